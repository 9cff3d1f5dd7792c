// Goal: TIMELY follows the round trip: it grows below the low threshold, shrinks above the high one
// in proportion to the excess, and between them obeys the gradient. Two flows share a queue about
// fairly. Method: literal windows by algorithm 1, and a fluid queue.
#include "trafficgen/transport/control/timely.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::timely_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Kind = CongestionControl::Congestion;

constexpr std::uint32_t kMss = 1000;
constexpr double kStep_bytes = 250;  ///< 20 Mbit/s for the shortest round trip, 100 us

ControllerConfig settings() {
  return {.controller = Controller::kTimely,
          .initial_window_segments = 100,
          .timely_t_low = 200us,
          .timely_t_high = 400us,
          .timely_step = BitRate{20'000'000}};
}

/// A controller whose every ACK acknowledges a window.
struct Bench {
  explicit Bench(const ControllerConfig& c = settings()) : config(c), cc(config, kMss) {}
  void ack(Duration rtt, bool limited = true) {
    const std::uint64_t una = nxt + 1;
    nxt = una + cc.cwnd_bytes();
    cc.on_ack({.now = Time{} + 1s,
               .acked_bytes = cc.cwnd_bytes(),
               .srtt = rtt,
               .rtt = rtt,
               .snd_una = una,
               .snd_nxt = nxt,
               .in_recovery = true,  // tolerated losses and marks stop nothing
               .cwnd_limited = limited});
  }
  /// Ends the start with a first completion. The window does not grow from its 100 segments, and
  /// 100 us is the shortest round trip.
  void settle(Duration rtt) {
    ack(100us, false);
    ack(rtt, false);
  }
  ControllerConfig config;
  Timely cc;
  std::uint64_t nxt = 0;
};

TEST(Timely, DoublesUntilTheRoundTripIsNoLongerShort) {
  Bench b;
  b.ack(100us);
  EXPECT_EQ(b.cc.cwnd_bytes(), 200'000U);
  b.ack(200us);
  EXPECT_EQ(b.cc.cwnd_bytes(), 400'000U) << "not above the threshold";
  b.ack(201us);
  EXPECT_LT(b.cc.cwnd_bytes(), 402'000U);
  b.ack(100us);
  EXPECT_LT(b.cc.cwnd_bytes(), 403'000U) << "once only";
}

TEST(Timely, GrowsByAStepBelowTheLowThreshold) {
  Bench b;
  b.settle(201us);
  for (unsigned i = 1; i <= 9; ++i) {
    b.ack(150us + i * 1us);  // a rising round trip does not matter there
    EXPECT_EQ(b.cc.cwnd_bytes(), 100'000U + i * 250U) << "without a hyperactive increase";
  }
  b.ack(150us, false);
  EXPECT_EQ(b.cc.cwnd_bytes(), 102'250U) << "a window that was not used says nothing";
}

TEST(Timely, ShrinksByTheExcessAboveTheHighThreshold) {
  for (const auto rtt : {401us, 800us, 4000us}) {
    Bench b;
    b.settle(rtt);
    b.ack(rtt);
    const double kept = 1 - 0.8 * (1 - 400.0 / static_cast<double>(rtt.count()));
    EXPECT_NEAR(b.cc.cwnd_bytes(), 100'000 * kept * kept, 2) << rtt.count() << ": settle() too";
  }
}

TEST(Timely, TheGradientDecidesBetweenTheThresholds) {
  Bench b;
  b.settle(300us);  // no difference yet, so calm: the first of five
  std::uint32_t window = 100'000;
  for (const std::uint32_t steps : {1U, 1U, 1U, 5U, 5U}) {
    b.ack(300us);
    window += steps * 250;
    EXPECT_EQ(b.cc.cwnd_bytes(), window) << "hyperactive from the fifth on";
  }
  b.ack(340us);
  EXPECT_DOUBLE_EQ(b.cc.gradient(), 0.875 * 40 / 100);
  EXPECT_EQ(b.cc.cwnd_bytes(), static_cast<std::uint32_t>(window * (1 - 0.8 * 0.35)));
  const std::uint32_t reduced = b.cc.cwnd_bytes();
  b.ack(320us);  // 0.125 x 35 us + 0.875 x -20 us
  EXPECT_DOUBLE_EQ(b.cc.gradient(), -0.13125);
  EXPECT_EQ(b.cc.cwnd_bytes(), reduced + 250) << "calm, and no longer hyperactive";
}

TEST(Timely, MarksDoNothingAndLossesDo) {
  Bench b;
  b.settle(300us);
  b.cc.on_congestion(Kind::kEce, 100'000, Time{1s});
  EXPECT_EQ(b.cc.cwnd_bytes(), 100'000U);
  b.cc.on_congestion(Kind::kLoss, 80'000, Time{1s});
  EXPECT_EQ(b.cc.cwnd_bytes(), 40'000U);
  b.cc.on_timeout({}, Time{2s});
  EXPECT_EQ(b.cc.cwnd_bytes(), kMss);
  for (int i = 0; i < 9; ++i) b.ack(100us);
  EXPECT_NEAR(b.cc.cwnd_bytes(), kMss + 9 * kStep_bytes, 1) << "by steps from then on";
}

/// Two flows on a link of 10 Gbit/s with a fluid queue, 100 us apart. Each has a completion once
/// per round trip. @return the mean windows over the last half
std::array<double, 2> share(ControllerConfig config, std::array<std::uint32_t, 2> first) {
  constexpr double kLink_bytes_per_us = 1250, kBase_us = 100;
  config.timely_t_low = 120us;
  config.timely_t_high = 200us;
  config.timely_step = BitRate{100'000'000};
  std::array<ControllerConfig, 2> configs{config, config};
  for (std::size_t f : {0U, 1U}) configs[f].initial_window_segments = first[f];
  std::array<Bench, 2> flows{Bench(configs[0]), Bench(configs[1])};
  std::array<double, 2> due_us{100, 130}, mean{};
  int counted = 0;
  for (double now_us = 0; now_us < 1e6; now_us += 1) {
    for (std::size_t f : {0U, 1U}) {
      if (now_us < due_us[f]) continue;
      const double sum = flows[0].cc.cwnd_bytes() + flows[1].cc.cwnd_bytes();
      const double rtt_us = std::max(kBase_us, sum / kLink_bytes_per_us);
      flows[f].ack(Duration{static_cast<std::int64_t>(rtt_us * 1000)});
      due_us[f] = now_us + rtt_us;
    }
    if (now_us < 5e5) continue;
    ++counted;
    for (std::size_t f : {0U, 1U}) mean[f] += flows[f].cc.cwnd_bytes();
  }
  return {mean[0] / counted, mean[1] / counted};
}

TEST(Timely, TwoFlowsShareAboutFairlyWhateverTheyBeginWith) {
  for (const auto& first : {std::array{10U, 10U}, std::array{150U, 10U}, std::array{10U, 150U}}) {
    const auto windows = share(settings(), first);
    const double sum = windows[0] + windows[1];
    EXPECT_GT(sum, 125'000) << "the link is busy";
    EXPECT_LT(sum, 2 * 125'000 * 1.3) << "and the round trip near the high threshold at most";
    EXPECT_GT(std::min(windows[0], windows[1]) / sum, 0.3) << first[0] << " " << first[1];
  }
}

TEST(Timely, IsMadeByTheSlot) {
  const ControllerConfig config = settings();
  const ControllerSlot slot(config, kMss);
  EXPECT_TRUE(dynamic_cast<const Timely*>(&*slot));
}

}  // namespace
}  // namespace outrider::timely_test
