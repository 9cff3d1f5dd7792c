// Goal: Swift does what the paper's algorithm says: how a window grows and shrinks, how seldom, and
// how the target follows from the window; and a requester measures the round trips that it needs.
#include "trafficgen/roce/control/swift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "tests/unit/roce/queue_pair_ends.h"

namespace outrider::swift_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr Time kStart = Time{} + 1s;
constexpr SendPath kPath{.line_bps = 40e9, .packet_bytes = 1000, .most_packets = 1024};
/// Windows from 1 to 100 packets; the target of 100 is 20 us, that of 1 is 70 us.
constexpr SwiftConfig kConfig{.base_target = 20us,
                              .scaling_range = 50us,
                              .scaling_least_window = 1,
                              .scaling_most_window = 100};

/// Tells of one packet.
void ack(Swift& control, Duration rtt, Time now, std::uint64_t packets = 1) {
  control.on_ack({.acknowledged_packets = packets, .rtt = rtt}, now);
}

TEST(Swift, BeginsWithWhatTheLinkCarriesInTheTarget) {
  Swift control(kConfig, kPath);
  EXPECT_DOUBLE_EQ(control.window(), 100) << "20 us at 40 Gbit/s";
  EXPECT_EQ(control.window_packets(), 100U);
  EXPECT_EQ(control.rate_bps(kStart), 40e9);
  SendPath narrow = kPath;
  narrow.most_packets = 16;
  EXPECT_DOUBLE_EQ(Swift(kConfig, narrow).window(), 16);
}

TEST(Swift, TheTargetGrowsAsTheWindowShrinks) {
  Swift control(kConfig, kPath);
  EXPECT_EQ(control.target(), 20us);
  Time now = kStart;
  for (; control.window() > 25; now += 1ms) ack(control, 1ms, now);
  // 1/sqrt(w) is 0.1 for 100 packets and 1 for one.
  const double expected = 20e3 + 50e3 * (1 / std::sqrt(control.window()) - 0.1) / 0.9;
  EXPECT_NEAR(static_cast<double>(control.target().count()), expected, 1);
  for (; control.window() > 0.5; now += 1ms) ack(control, 1ms, now);
  EXPECT_EQ(control.target(), 70us) << "no more than the range";
}

TEST(Swift, GrowsByOnePacketInARoundTrip) {
  Swift control(kConfig, kPath);
  for (int i = 0; i < 100; ++i) ack(control, 10us, kStart);
  EXPECT_NEAR(control.window(), 101, 0.01);
  ack(control, 10us, kStart, 101);
  EXPECT_NEAR(control.window(), 102, 0.02) << "one acknowledgment for many";
}

TEST(Swift, ShrinksByTheExcessOnceInARoundTrip) {
  Swift control(kConfig, kPath);
  ack(control, 25us, kStart);
  EXPECT_NEAR(control.window(), 100 * (1 - 0.8 * 5 / 25), 1e-9);
  const double once = control.window();
  ack(control, 50us, kStart + 49us);
  EXPECT_DOUBLE_EQ(control.window(), once) << "within a round trip";
  ack(control, 50us, kStart + 50us);
  EXPECT_LT(control.window(), once);
}

TEST(Swift, ShrinksByHalfAtMost) {
  Swift control(kConfig, kPath);
  ack(control, 1s, kStart);
  EXPECT_DOUBLE_EQ(control.window(), 50);
}

TEST(Swift, BelowAPacketItPauses) {
  Swift control(kConfig, kPath);
  Time now = kStart;
  for (; control.window() > 0.5; now += 1ms) ack(control, 100us, now);
  EXPECT_EQ(control.window_packets(), 1U);
  EXPECT_NEAR(control.rate_bps(now), control.window() * 8000 / 100e-6, 1)
      << "a packet in round trip / window";
  const double before = control.window();
  ack(control, 10us, now);
  EXPECT_NEAR(control.window(), before + 1, 1e-9) << "grows by a packet for each";
}

TEST(Swift, LossHalvesAndFiveTimeoutsInARowReset) {
  Swift control(kConfig, kPath);
  ack(control, 10us, kStart);
  const double before = control.window();
  control.on_loss(kStart + 1ms);
  EXPECT_NEAR(control.window(), before / 2, 1e-9);
  control.on_loss(kStart + 1ms + 9us);
  EXPECT_NEAR(control.window(), before / 2, 1e-9) << "within a round trip";
  for (int i = 1; i <= 4; ++i) control.on_timeout(kStart + (1 + i) * 1ms);
  EXPECT_NEAR(control.window(), before / 32, 1e-9);
  control.on_timeout(kStart + 6ms);
  EXPECT_DOUBLE_EQ(control.window(), 0.001);
}

/// Notes what it is told, and permits as many packets as it is set to.
struct Watcher final : RateController {
  [[nodiscard]] double rate_bps(Time) noexcept override { return 1e12; }
  [[nodiscard]] bool reads_acks() const noexcept override { return true; }
  [[nodiscard]] std::uint32_t window_packets() const noexcept override { return window; }
  void on_ack(const RateSample& sample, Time) noexcept override { samples.push_back(sample); }
  void on_loss(Time) noexcept override { ++losses; }
  void on_timeout(Time) noexcept override { ++timeouts; }

  std::uint32_t window = 4;
  std::vector<RateSample> samples;
  int losses = 0, timeouts = 0;
};

struct Watched {
  explicit Watched(const RoceConfig& c = {}) : config(c) {}

  /// Sends what may leave. @return how many packets did
  std::size_t send() {
    const std::size_t before = log.size();
    while (requester.has_packet(now)) log.push_back(requester.next_packet(now)), now += 1us;
    return log.size() - before;
  }
  void answer(std::uint32_t psn, std::uint8_t syndrome = roce::kAckSyndrome) {
    roce::Message m{.opcode = roce::Opcode::kAcknowledge, .psn = psn, .syndrome = syndrome};
    EXPECT_TRUE(requester.on_acknowledge(m, now));
  }

  RoceConfig config;
  RoceCounters counters;
  std::unique_ptr<Watcher> made = std::make_unique<Watcher>();
  Watcher& control = *made;
  Requester requester{config, {.path_mtu = kMtu, .peer_queue_pair = 7}, std::move(made), counters};
  Time now = kStart;
  std::vector<roce::Message> log;
};

TEST(RequesterWindow, SendsNoMoreThanTheControllerPermits) {
  Watched w;
  w.requester.append(100 * kMtu, 1, w.now);
  EXPECT_EQ(w.send(), 4U);
  for (const auto& m : w.log) EXPECT_TRUE(m.asks) << "each asks, so that each tells";
  w.control.window = 2;
  w.answer(0);
  EXPECT_EQ(w.send(), 0U) << "three are in flight";
  w.answer(2);
  EXPECT_EQ(w.send(), 1U);
  w.control.window = 5;
  w.answer(3);
  EXPECT_EQ(w.send(), 4U);
}

TEST(RequesterWindow, MeasuresRoundTripsOfPacketsThatLeftOnce) {
  Watched w;
  w.requester.append(100 * kMtu, 1, w.now);
  ASSERT_EQ(w.send(), 4U);  // at 0, 1, 2 and 3 us
  w.now = kStart + 20us;
  w.answer(1);
  ASSERT_EQ(w.control.samples.size(), 1U);
  EXPECT_EQ(w.control.samples[0].acknowledged_packets, 2U);
  EXPECT_EQ(w.control.samples[0].rtt, 19us);
  w.answer(2, roce::kNakSequenceSyndrome);  // 2 was lost, and leaves again with 3
  EXPECT_EQ(w.control.losses, 1);
  ASSERT_EQ(w.send(), 4U);
  w.answer(3);
  ASSERT_EQ(w.control.samples.size(), 2U);
  EXPECT_FALSE(w.control.samples[1].rtt) << "3 left twice";
  w.now += 10us;
  w.answer(4);
  EXPECT_TRUE(w.control.samples[2].rtt.has_value());
}

// The acknowledgment that closes a gap names a packet that had waited behind it.
TEST(RequesterWindow, MeasuresNothingDuringASelectiveRecovery) {
  Watched w({.repair = RoceRepair::kSelective});
  w.requester.append(100 * kMtu, 1, w.now);
  ASSERT_EQ(w.send(), 4U);
  roce::Message nak{.opcode = roce::Opcode::kAcknowledge,
                    .psn = 0,
                    .syndrome = roce::kNakSelectiveSyndrome,
                    .message_number = 1};
  ASSERT_TRUE(w.requester.on_acknowledge(nak, w.now));
  EXPECT_EQ(w.control.losses, 1);
  ASSERT_EQ(w.send(), 1U);
  w.now += 50us;
  w.answer(3);
  ASSERT_EQ(w.control.samples.size(), 1U);
  EXPECT_EQ(w.control.samples[0].acknowledged_packets, 4U);
  EXPECT_FALSE(w.control.samples[0].rtt);
}

TEST(RequesterWindow, ASilenceIsTold) {
  Watched w;
  w.requester.append(kMtu, 1, w.now);
  ASSERT_EQ(w.send(), 1U);
  w.requester.on_timer(kStart + 67ms);
  EXPECT_EQ(w.control.timeouts, 1);
}

}  // namespace
}  // namespace outrider::swift_test
