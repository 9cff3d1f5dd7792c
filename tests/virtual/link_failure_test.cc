// Goal: while a link is down it loses what comes, signals too, and when switches avoid it nothing
// more is lost; the run is the same on ranks and in tiles. Method: a fabric of three leaves.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/core/drop_reason.h"
#include "switch/report/report_json.h"
#include "tests/support/simulation.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/ranks/run_ranks.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/report/report_json.h"

namespace outrider::link_failure_test {
using namespace lab;
namespace {

constexpr const char* kRacks = R"(
name = "racks"
question = "?"
[fabric]
kind = "leaf_spine"
leaves = 3
spines = 2
hosts_per_leaf = 4
host_rate = "10gbit"
host_delay = "1us"
uplink_rate = "10gbit"
uplink_delay = "2us"
FAILURE
[network]
measured = "worst"
[[hosts]]
name = "other"
count = 6
placement = "spread"
[background]
from = "other"
to = "other"
[[job]]
name = "a"
workers = 4
placement = "spread"
[parameters]
job.burst_bytes = "300kB"
job.iterations = 4
skip_iterations = 1
limit_seconds = 0.05
warm_up_seconds = 0.002
job.period = "6ms"
background.flows_per_pair = 2
transport.controller = "dctcp"
transport.min_rto = "1ms"
transport.initial_rto = "2ms"
transport.delayed_ack = "500us"
switch.queue.limit_packets = 400
switch.marker.threshold_packets = 60
PARAMETERS
[[arm]]
label = "off"
)";

/// Returns the case with a link that is down from 8 ms on. @param more  keys of the failure
Case with_failure(const std::string& more, const char* parameters = "") {
  const std::string text =
      with(with(kRacks, "FAILURE",
                "[[fabric.failure]]\nlink = \"leaf_0.to_spine_0\"\nat = \"8ms\"\n" + more),
           "PARAMETERS", parameters);
  return plan_of(text).front();
}

RunResult run(const Case& c) {
  const Mempool pool = make_test_pool(buffers_needed(c));
  RunResult r = run_virtual(c, *pool);
  EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced);
  EXPECT_EQ(r.mbufs_leaked, 0U);
  return r;
}

/// Returns the packets that were lost on links that are down, of a class, or of all.
std::uint64_t lost(const RunResult& r, std::optional<TrafficClass> of = {}) {
  std::uint64_t sum = 0;
  for (const auto& queue : r.switches.queues)
    for (std::size_t k = 0; k < kTrafficClasses; ++k)
      if (const auto traffic = static_cast<TrafficClass>(k); !of || *of == traffic)
        sum += queue.drops[traffic][DropReason::kInjectedLoss];
  return sum;
}

TEST(LinkFailure, LosesWhatComesUntilRoutesAvoidIt) {
  EXPECT_EQ(lost(run(plan_of(with(with(kRacks, "FAILURE", ""), "PARAMETERS", "")).front())), 0U);
  const std::uint64_t for_ever = lost(run(with_failure("")));
  const std::uint64_t for_6_ms = lost(run(with_failure("until = \"14ms\"\n")));
  const std::uint64_t noticed = lost(run(with_failure("reroute_after = \"500us\"\n")));
  EXPECT_GT(noticed, 0U);
  EXPECT_GT(for_6_ms, noticed) << "few more: senders wait for their time-outs";
  EXPECT_GT(for_ever, for_6_ms);
}

TEST(LinkFailure, LosesSignalsToo) {
  const char* udp = "job.announce.signal_form = \"udp\"\njob.announce.lead = \"10rtt\"\n";
  EXPECT_EQ(lost(run(with_failure("reroute_after = \"0s\"\n", udp))), 0U)
      << "noticed at once: nothing comes";
  EXPECT_GT(lost(run(with_failure("", udp)), TrafficClass::kSignal), 0U);
}

TEST(LinkFailure, IsTheSameOnRanksAndInTiles) {
  const Case c = with_failure("until = \"18ms\"\nreroute_after = \"3ms\"\n");
  ASSERT_EQ(c.changes.size(), 4U);
  const auto text_of = [](const RunResult& r) {
    return sw::to_json(r.switches) + tg::to_json(r.traffic);
  };
  const Mempool pool = make_test_pool(buffers_needed(c));
  const std::string whole = text_of(run_virtual(c, *pool, {}, 1));
  for (const std::uint32_t parts : {2U, 3U}) {
    EXPECT_EQ(text_of(run_virtual(c, *pool, {}, parts)), whole) << parts << " tiles";
    const Partition partition = make_partition(c.switches, c.traffic, parts, CutKind::kTurns);
    EXPECT_EQ(text_of(run_in_turns(c, partition, make_rank_pools(c, partition))), whole)
        << parts << " ranks";
  }
}

}  // namespace
}  // namespace outrider::link_failure_test
