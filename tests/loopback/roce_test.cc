// Goal: bursts over RoCEv2 cross real devices as they cross virtual links: frames with payload and
// a right ICRC, marks that come back as congestion notification packets, beside TCP whose buffers
// stay zeros. Method: the two programs over vhost and virtio-user; a generator alone over a ring.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <string>

#include "common/telemetry/exit_status.h"
#include "switch/report/report_json.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/test_cpus.h"
#include "trafficgen/report/report_json.h"

namespace outrider::roce_loopback_test {
using namespace sw;
using namespace tg;
namespace {

constexpr int kIterations = 5;
constexpr std::uint64_t kBurstBytes = 200'000;

constexpr const char* kHosts = R"(
[[host]]
name = "worker"
address = "198.18.1.1"
device = "left"
rate = "200mbit"
[[host]]
name = "bulk"
address = "198.18.1.2"
device = "left"
rate = "200mbit"
[[host]]
name = "server"
address = "198.18.2.1"
device = "right"
rate = "200mbit"
[[host]]
name = "sink"
address = "198.18.2.2"
device = "right"
rate = "200mbit"
[[transport]]
name = "rdma"
protocol = "roce"
[transport.roce.dcqcn]
least_rate = "5mbit"
[[transport]]
name = "tcp"
controller = "dctcp"
[[job]]
name = "train"
workers = ["worker"]
servers = ["server"]
transport = "rdma"
burst_bytes = "200kB"
iterations = 5
compute = "5ms"
announce.lead_source = "none"
[[long_flows]]
name = "background"
from = ["bulk"]
to = ["sink"]
transport = "tcp"
)";

/// Every packet that arrived had a right ICRC, and every burst is whole in both directions.
void expect_whole(const GeneratorReport& g) {
  EXPECT_TRUE(g.ledger_balanced);
  EXPECT_TRUE(g.jobs_finished);
  EXPECT_TRUE(g.roce.balanced());
  EXPECT_EQ(g.roce.bad_icrc, 0U);
  EXPECT_EQ(g.roce.malformed, 0U);
  EXPECT_EQ(g.roce.refused, 0U);
  EXPECT_EQ(g.drops[DropReason::kBadChecksum], 0U) << "TCP in buffers that RoCEv2 has used";
  ASSERT_EQ(g.bursts.size(), 2U * kIterations);
  for (const auto& burst : g.bursts) EXPECT_EQ(burst.delivered_bytes, kBurstBytes);
  EXPECT_GE(g.roce.in_order, 2 * kIterations * kBurstBytes / 1024);
  ASSERT_FALSE(g.flows.empty());
}

class RoceLoopback : public testing::Test {
 protected:
  GeneratorReport report() const {
    return generator_report_from_json(read_whole(directory_ / "hosts.json"));
  }
  /// The switch's ends of two virtual links, and the generator's.
  std::string switch_devices() const {
    return "[[device]]\nname = \"left\"\ndevice = \"net_vhost0,iface=" + (directory_ / "l") +
           ",client=1\"\n[[device]]\nname = \"right\"\ndevice = \"net_vhost1,iface=" +
           (directory_ / "r") + ",client=1\"\n";
  }
  std::string host_devices() const {
    return "[[device]]\nname = \"left\"\ndevice = \"net_virtio_user0,path=" + (directory_ / "l") +
           ",server=1\"\n[[device]]\nname = \"right\"\ndevice = \"net_virtio_user1,path=" +
           (directory_ / "r") + ",server=1\"\n";
  }
  /// Runs both programs until the generator ends.
  void run_both(const std::string& switches, const std::string& hosts) {
    ProcessGuard sw({OUTRIDER_SWITCH_PROGRAM, "--config", directory_.write("s.toml", switches),
                     "--lcore", cpus_.first, "--report", directory_ / "switch.json"},
                    directory_ / "switch.log");
    ProcessGuard gen({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory_.write("h.toml", hosts),
                      "--lcore", cpus_.second, "--report", directory_ / "hosts.json"},
                     directory_ / "hosts.log");
    ASSERT_EQ(gen.wait(kPatience), kExitOk) << gen.output();
    sw.send(SIGINT);
    ASSERT_EQ(sw.wait(kPatience), kExitOk) << sw.output();
  }
  ScratchDirectory directory_;
  std::pair<std::string, std::string> cpus_ = two_cpus();
};

TEST_F(RoceLoopback, MarksComeBackThroughASwitch) {
  const std::string switches = switch_devices() + R"([[switch]]
name = "s"
[[switch.port]]
name = "left"
device = "left"
drain_rate = "50mbit"
queue.limit_packets = 500
marker.threshold_packets = 20
[[switch.port]]
name = "right"
device = "right"
drain_rate = "50mbit"
queue.limit_packets = 500
marker.threshold_packets = 20
[[switch.route]]
prefix = "198.18.1.0/24"
port = "left"
[[switch.route]]
prefix = "198.18.2.0/24"
port = "right"
)";
  const std::string hosts = host_devices() + kHosts;
  run_both(switches, hosts);
  if (HasFatalFailure()) return;
  const GeneratorReport g = report();
  expect_whole(g);
  EXPECT_GT(g.flows.front().delivered_bytes, 0U);
  EXPECT_GT(g.roce.marked, 0U);
  EXPECT_GT(g.roce.cnps_sent, 0U);
  EXPECT_GT(g.roce.cnps_received, 0U);
  EXPECT_TRUE(switch_report_from_json(read_whole(directory_ / "switch.json")).ledger_balanced);
}

// Nothing but pauses slows these queue pairs down. Hosts have the rate of their port, by which both
// count quanta.
TEST_F(RoceLoopback, PausesStopAllHostsBehindTheirDevice) {
  const auto port = [](const char* name, const char* rate) {
    return "[[switch.port]]\nname = \"" + std::string(name) + "\"\ndevice = \"" + name +
           "\"\ndrain_rate = \"" + rate + "\"\n";
  };
  const std::string switches = switch_devices() + R"([[switch]]
name = "s"
[switch.queue]
limit_packets = 4096
[switch.queue.lossless]
priority = 3
xoff_bytes = "50kB"
headroom_bytes = "2MB"
)" + port("left", "100mbit") + port("right", "30mbit") +
                               R"([[switch.route]]
prefix = "198.18.1.0/24"
port = "left"
[[switch.route]]
prefix = "198.18.2.0/24"
port = "right"
)";
  const std::string hosts = host_devices() + R"([[host]]
name = "a"
address = "198.18.1.1"
device = "left"
rate = "100mbit"
[[host]]
name = "b"
address = "198.18.1.2"
device = "left"
rate = "100mbit"
[[host]]
name = "server"
address = "198.18.2.1"
device = "right"
rate = "100mbit"
[[transport]]
name = "rdma"
protocol = "roce"
priority = 3
[transport.roce]
controller = "fixed"
window_packets = 8192
timeout = "1s"
[[transfer]]
name = "a"
from = "a"
to = "server"
bytes = "4MB"
transport = "rdma"
[[transfer]]
name = "b"
from = "b"
to = "server"
bytes = "4MB"
transport = "rdma"
)";
  run_both(switches, hosts);
  if (HasFatalFailure()) return;
  const GeneratorReport g = report();
  EXPECT_TRUE(g.ledger_balanced && g.jobs_finished);
  EXPECT_GT(g.pauses_taken, 0U);
  EXPECT_GT(g.paused_ns, 0U);
  EXPECT_EQ(sum(g.drops), 0U);
  EXPECT_EQ(g.background_roce.retransmitted, 0U);
  const SwitchReport s = switch_report_from_json(read_whole(directory_ / "switch.json"));
  EXPECT_TRUE(s.ledger_balanced);
  for (const auto& of_class : s.drops.values) EXPECT_EQ(sum(of_class), 0U) << "both hosts stopped";
}

// The generator alone: the ring hands over the buffers themselves.
TEST_F(RoceLoopback, AGeneratorAloneOverARing) {
  std::string hosts = "lcore = " + cpus_.second + "\n[[device]]\nname = \"left\"\n" +
                      "device = \"net_ring0\"\n" + kHosts;
  for (std::size_t at = 0; (at = hosts.find("\"right\"", at)) != std::string::npos;)
    hosts.replace(at, 7, "\"left\"");
  ProcessGuard gen({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory_.write("h.toml", hosts),
                    "--report", directory_ / "hosts.json"},
                   directory_ / "hosts.log");
  ASSERT_EQ(gen.wait(kPatience), kExitOk) << gen.output();
  expect_whole(report());
}

}  // namespace
}  // namespace outrider::roce_loopback_test
