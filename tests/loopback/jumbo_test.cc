// Goal: with mtu_bytes = 9000 the largest frame goes through whole, and without it ends
// with a name. Method: the real program between two capture files.
#include <gtest/gtest.h>

#include "common/telemetry/exit_status.h"
#include "switch/report/report_json.h"
#include "tests/loopback/pcap_file.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/frames.h"

namespace outrider::jumbo_test {
using namespace sw;
namespace {

/// IP packets of 576, 1500 and 9000 bytes, with something in the payload.
std::vector<PcapFrame> frames() {
  std::vector<PcapFrame> all;
  for (const std::size_t ip_bytes : {576U, 1500U, 9000U}) {
    all.push_back(bytes_of({.flow = {ip("10.0.0.1"), ip("10.0.1.1"), 1000, 80},
                            .payload_bytes = static_cast<std::uint16_t>(ip_bytes - 40)}));
    for (std::size_t i = 54; i < all.back().size(); ++i)
      all.back()[i] = static_cast<std::uint8_t>(i * 7);
  }
  return all;
}

struct Outcome {
  SwitchReport report;
  std::vector<PcapFrame> left;
};

Outcome run(const std::string& mtu_line) {
  const ScratchDirectory scratch;
  scratch.write("in", pcap_of(frames()));
  const std::string config = R"([[switch]]
name = "sw"
[[switch.port]]
name = "out"
device = "out"
[[switch.port]]
name = "in"
device = "in"
[[switch.route]]
prefix = "10.0.1.0/24"
port = "out"
[[device]]
name = "out"
device = "net_pcap1,rx_pcap=)" +
                             scratch / "none" + ",tx_pcap=" + scratch / "out" + R"("
[[device]]
name = "in"
device = "net_pcap0,rx_pcap=)" +
                             scratch / "in" + ",tx_pcap=" + scratch / "unused" + "\"\n" + mtu_line;
  scratch.write("none", pcap_of({}));
  ProcessGuard process({OUTRIDER_SWITCH_PROGRAM, "--config", scratch.write("c.toml", config),
                        "--duration", "300ms", "--report", scratch / "report.json"},
                       scratch / "log");
  EXPECT_EQ(process.wait(kPatience), kExitOk) << process.output();
  return {switch_report_from_json(read_whole(scratch / "report.json")),
          frames_of(read_whole(scratch / "out"))};
}

TEST(Jumbo, PassesWhole) {
  const Outcome outcome = run("mtu_bytes = 9000\n");
  EXPECT_EQ(outcome.report.transmitted, 3U);
  auto expected = frames();
  ASSERT_EQ(outcome.left.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(outcome.left[i].size(), expected[i].size());
    // But for TTL and checksum.
    for (const std::size_t changed : {22U, 24U, 25U})
      expected[i][changed] = outcome.left[i][changed];
    EXPECT_TRUE(outcome.left[i] == expected[i]) << i;
  }
}

TEST(Jumbo, IsMalformedWhereThereIsNoRoom) {
  const Outcome outcome = run("");
  EXPECT_EQ(outcome.left.size(), 2U);
  EXPECT_EQ(outcome.report.drops[TrafficClass::kBackground][DropReason::kMalformed], 1U);
}

}  // namespace
}  // namespace outrider::jumbo_test
