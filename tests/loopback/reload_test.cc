// Goal: SIGHUP changes a running switch, or says why not. Method: the real program on a
// device that never ends, told by a signal, judged by its log and its report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <numeric>

#include "common/telemetry/exit_status.h"
#include "switch/report/report_json.h"
#include "tests/loopback/process_guard.h"

namespace outrider::loopback_reload_test {
using namespace sw;
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kStream = R"(
lcore = 0
duration = "1ms"
[[device]]
name = "loop"
device = "net_ring0"
[[stream]]
name = "probe"
device = "loop"
receive_device = "loop"
rate = "1mpps"
source = "10.0.0.1"
destination = "10.1.0.1"
)";

/// @param limit  of the one queue, always full: frames come as fast as they are polled
std::string switch_config(const std::string& pcap, int limit, const std::string& more = "") {
  return "lcore = 0\n" + more + R"(
[[device]]
name = "frames"
device = "net_pcap0,rx_pcap=)" +
         pcap + R"(,tx_pcap=/dev/null,infinite_rx=1"
[[switch]]
name = "s"
[switch.queue]
limit_packets = )" +
         std::to_string(limit) + R"(
[switch.marker]
kind = "tail_drop"
[[switch.port]]
name = "p"
device = "frames"
drain_rate = "10mbit"
[[switch.route]]
prefix = "10.0.0.0/8"
port = "p"
)";
}

TEST(ReloadOnSignal, ChangesWhatItMayAndRefusesTheRest) {
  const ScratchDirectory directory;
  const std::string pcap = directory / "p.pcap";
  ProcessGuard preview({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory.write("g.toml", kStream),
                        "--preview", pcap},
                       directory / "preview");
  ASSERT_EQ(preview.wait(kPatience), kExitOk) << preview.output();

  const std::string file = directory.write("s.toml", switch_config(pcap, 400));
  ProcessGuard sw(
      {OUTRIDER_SWITCH_PROGRAM, "--config", file, "--report", directory / "r.json", "--live"},
      directory / "log");
  ASSERT_TRUE(sw.says("waiting 400", kPatience)) << sw.output();

  directory.write("s.toml", switch_config(pcap, 3));
  sw.send(SIGHUP);
  ASSERT_TRUE(sw.says("reloaded, 1 setting changed", kPatience)) << sw.output();
  ASSERT_TRUE(sw.says("switch[0].port[0].queue.limit_packets: 400 -> 3", kPatience));
  ASSERT_TRUE(sw.says("waiting 3 ", kPatience)) << sw.output();

  directory.write("s.toml", switch_config(pcap, 0, "sede = 3\n"));
  sw.send(SIGHUP);
  ASSERT_TRUE(sw.says("nothing was changed", kPatience)) << sw.output();
  EXPECT_THAT(sw.output(), HasSubstr("sede"));
  EXPECT_THAT(sw.output(), HasSubstr("limit_packets: 0"));

  directory.write("s.toml", switch_config(pcap, 30, "seed = 3\n"));
  sw.send(SIGHUP);
  ASSERT_TRUE(sw.says("seed: 1 -> 3: was used for the packets so far", kPatience)) << sw.output();

  sw.send(SIGINT);
  EXPECT_EQ(sw.wait(kPatience), kExitOk) << sw.output();
  EXPECT_THAT(sw.output(), Not(HasSubstr("waiting 30 ")));
  const SwitchReport r = switch_report_from_json(read_whole(directory / "r.json"));
  EXPECT_TRUE(r.ledger_balanced);
  ASSERT_EQ(r.queues.size(), 1U);
  const auto& resident = r.queues[0].resident.values;
  EXPECT_LE(std::accumulate(resident.begin(), resident.end(), std::uint64_t{0}), 3U);
}

}  // namespace
}  // namespace outrider::loopback_reload_test
