// Goal: a capture leaves with its gaps, round after round, and every frame has an end. Method: the
// dumbbell without other traffic; arrivals by bins of 1 ms.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/pcap_file.h"
#include "tests/support/simulation.h"

namespace outrider::capture_player_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

class CapturePlayed : public testing::Test {
 protected:
  CapturePlayed()
      : path_(testing::TempDir() + "played-" + std::to_string(getpid()) + ".pcap"),
        pool_(make_test_pool()) {
    d_.background_flows = 0;
    d_.job.first_due = 1h;  // no burst within the tests
  }
  ~CapturePlayed() override { std::filesystem::remove(path_); }

  RunResult play(const std::vector<CapturedPacket>& packets, std::uint64_t rounds, Time until) {
    write_pcap(path_, packets);
    GeneratorConfig g = d_.traffic();
    g.send_jitter = 0;
    g.bin = 1ms;
    g.captures = {
        {.name = "c", .from = "w0", .to = "s0", .file = path_, .start = 10ms, .rounds = rounds}};
    ImpairedSimulation simulation(d_.switches(), g, *pool_);
    simulation.run_until(until);
    EXPECT_TRUE(simulation.ledger().balanced());
    return simulation.result();
  }

  /// Returns the bins in which background arrived.
  static std::vector<std::size_t> arrivals(const RunResult& r) {
    std::vector<std::size_t> bins;
    for (std::size_t i = 0; i < r.traffic.bins.size(); ++i)
      if (r.traffic.bins[i].delivered_bytes[TrafficClass::kBackground] != 0) bins.push_back(i);
    return bins;
  }

  Dumbbell d_;
  std::string path_;
  Mempool pool_;
};

TEST_F(CapturePlayed, KeepsTheGapsOfEveryRound) {
  const std::vector<CapturedPacket> packets{
      {.at = 0ms}, {.at = 2ms, .bytes = 1514}, {.at = 12ms, .bytes = 200}};
  const RunResult once = play(packets, 1, Time{200ms});
  // One way takes 1.75 ms of propagation and less than 0.1 ms of sending.
  EXPECT_EQ(arrivals(once), (std::vector<std::size_t>{11, 13, 23}));
  ASSERT_EQ(once.traffic.captures.size(), 1U);
  const CaptureReport& report = once.traffic.captures[0];
  EXPECT_EQ(report.frames, 3U);
  EXPECT_EQ(report.sent, 3U);
  EXPECT_EQ(report.received, 3U);
  EXPECT_EQ(report.sent_bytes, 60U + 1514 + 200);
  EXPECT_EQ(report.received_bytes, report.sent_bytes);
  EXPECT_EQ(report.latest_ns, 0U);
  EXPECT_TRUE(once.traffic.ledger_balanced);

  const RunResult again = play(packets, 0, Time{55ms});  // a pass takes 12 ms and a mean gap of 6
  EXPECT_EQ(arrivals(again), (std::vector<std::size_t>{11, 13, 23, 29, 31, 41, 47, 49}));
  EXPECT_EQ(play(packets, 2, Time{200ms}).traffic.captures[0].sent, 6U);
}

TEST_F(CapturePlayed, WhatTheQueueHasNoRoomForIsDroppedByName) {
  // 200 full frames at the rate of the NIC, 1 Gbit/s, into 200 Mbit/s and a queue of 60.
  std::vector<CapturedPacket> packets;
  packets.reserve(200);
  for (int i = 0; i < 200; ++i) packets.push_back({.at = i * 1us, .bytes = 1514});
  const RunResult r = play(packets, 1, Time{200ms});
  const CaptureReport& report = r.traffic.captures[0];
  EXPECT_EQ(report.sent, 200U);
  EXPECT_GT(report.latest_ns, 2'000'000U) << "the NIC needs 12 us for each";
  EXPECT_LT(report.received, 110U);
  EXPECT_GT(report.received, 60U);
  std::uint64_t dropped = 0;
  for (const auto& queue : r.switches.queues)
    dropped += queue.drops[TrafficClass::kBackground][DropReason::kTailPackets];
  EXPECT_EQ(report.sent, report.received + dropped);
}

TEST_F(CapturePlayed, KeepsTheEcnBits) {
  const auto marks_of = [&](std::uint8_t tos) {
    std::vector<CapturedPacket> packets;
    packets.reserve(100);
    for (int i = 0; i < 100; ++i) packets.push_back({.at = i * 1us, .bytes = 1514, .tos = tos});
    const RunResult r = play(packets, 1, Time{200ms});
    std::uint64_t marks = 0;
    for (const auto& queue : r.switches.queues)
      marks += sum(queue.marks[TrafficClass::kBackground]);
    return marks;
  };
  constexpr std::uint8_t kEct0 = 2;
  EXPECT_GT(marks_of(kEct0), 5U) << "K = 40";
  EXPECT_EQ(marks_of(0), 0U);
}

}  // namespace
}  // namespace outrider::capture_player_test
