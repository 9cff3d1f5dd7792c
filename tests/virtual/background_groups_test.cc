// Goal: an experiment whose background is a list of groups runs as it says: each group sends, its
// results are its own, and its controller makes the difference that it is known for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/dpdk/packet/mempool.h"
#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/simulation/run_virtual.h"
#include "tools/lab/summary/summary.h"

namespace outrider::background_groups_run_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

constexpr const char* kNetwork = R"(
name = "groups"
[network]
rate = "1gbit"
rtt = "200us"
background_hosts = 4
[parameters]
workers = 2
job.burst_bytes = "100kB"
job.iterations = 3
job.period = "100ms"
warm_up_seconds = 0.3
background.start_spread = "10ms"
switch.queue.limit_packets = 200
switch.marker.threshold_packets = 20
[[arm]]
label = "off"
)";

/// The results of the first case of an experiment with these groups.
struct Ran {
  Case definition;
  RunResult result;
  std::map<std::string, GroupMetrics> groups{};
};

Ran run_with(const std::string& groups) {
  Ran ran;
  ran.definition = plan_of(kNetwork + groups, {.seeds = 1}).at(0);
  const Mempool pool = make_packet_pool({.name = "groups",
                                         .mbufs = buffers_needed(ran.definition),
                                         .frame_room_bytes = kHeaderRoomBytes});
  ran.result = run_virtual(ran.definition, *pool, {});
  EXPECT_TRUE(ran.result.traffic.ledger_balanced && ran.result.switches.ledger_balanced);
  EXPECT_TRUE(ran.result.traffic.jobs_finished);
  for (const auto& group : measure_groups(ran.definition, ran.result.traffic))
    ran.groups[group.name] = group;
  return ran;
}

TEST(GroupsRun, ThreeDctcpFlowsAndACubicOneShareTheQueue) {
  const std::string dctcp =
      "[[background]]\nname = \"dctcp\"\nlong_flows = 3\ntransport.controller = \"dctcp\"\n";
  const auto cubic = [](const char* ecn) {
    return "[[background]]\nname = \"cubic\"\nlong_flows = 1\n"
           "transport.controller = \"cubic\"\ntransport.ecn = " +
           std::string(ecn) + "\n";
  };
  const Ran deaf = run_with(dctcp + cubic("false")), heeds = run_with(dctcp + cubic("true"));
  for (const Ran* ran : {&deaf, &heeds}) {
    const double sum = ran->groups.at("dctcp").goodput_bits_per_second +
                       ran->groups.at("cubic").goodput_bits_per_second;
    EXPECT_GT(sum, 0.8e9);
    EXPECT_LT(sum, 1e9);
    EXPECT_NEAR(ran->groups.at("dctcp").share + ran->groups.at("cubic").share, 1, 1e-9);
    EXPECT_GT(ran->groups.at("dctcp").fairness, 0.9) << "three alike";
  }
  EXPECT_GT(deaf.groups.at("cubic").share, 0.5) << "that no mark slows takes what it can";
  EXPECT_LT(heeds.groups.at("cubic").share, 0.25) << "halves at marks to which DCTCP gives little";
}

TEST(GroupsRun, EachKindSendsOnItsOwnHosts) {
  const Ran ran = run_with(R"(
[[background]]
name = "storage"
from = "worker"
load = 0.1
sizes = ")" + source_path("conf/distributions/hadoop.cdf") +
                           R"("
both_ways = true
[[background]]
name = "calls"
requests = { connections = 2, request_bytes = 500, response_bytes = 5000, think = "2ms" }
[[background]]
name = "frames"
capture = ")" + source_path("conf/samples/frames.pcap") +
                           R"("
[[background]]
name = "rdma"
protocol = "roce"
long_flows = 2
)");
  for (const char* name : {"storage", "calls", "frames", "rdma"})
    EXPECT_GT(ran.groups.at(name).goodput_bits_per_second, 0) << name;
  EXPECT_GT(ran.groups.at("storage").flow_completion_seconds_p99, 0);
  EXPECT_GT(ran.groups.at("storage").flow_slowdown_median, 0.9);
  EXPECT_GT(ran.groups.at("calls").request_latency_seconds_median, 100e-6) << "a round trip";
  EXPECT_GT(ran.groups.at("rdma").fairness, 0);
  std::uint64_t of_worker = 0;
  for (const auto& group : ran.result.traffic.flow_groups) of_worker += group.completed;
  EXPECT_GT(of_worker, 0U) << "beside bursts on the same NICs";
}

TEST(GroupsRun, TheSameSeedGivesTheSameFigures) {
  const std::string groups =
      "[[background]]\nname = \"a\"\nlong_flows = 2\n"
      "[[background]]\nname = \"b\"\nfrom = \"worker\"\nlong_flows = 1\n";
  const Ran once = run_with(groups), again = run_with(groups);
  for (const char* name : {"a", "b"})
    EXPECT_EQ(once.groups.at(name).goodput_bits_per_second,
              again.groups.at(name).goodput_bits_per_second);
}

}  // namespace
}  // namespace outrider::background_groups_run_test
