// Goal: PI2 moves p' as its formula says, marks with the square of it, and holds Reno
// flows at the target whatever their number. Method: updates worked out by hand, marks
// counted, and greedy flows in virtual time.
#include "switch/aqm/pi2_marker.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/aqm/overload.h"

namespace outrider::pi2_marker_test {
namespace {

using namespace std::chrono_literals;

constexpr Pi2Marker::Params kRfc{.target = 15ms, .t_update = 16ms, .alpha = 0.16, .beta = 3.2};

/// A departure that leaves a queue behind.
MarkVerdict leave(Pi2Marker& pi2, Duration sojourn, Time now) {
  return pi2.on_dequeue(sojourn, 100'000, now);
}

TEST(Pi2Marker, MovesTheBaseProbabilityAsTheControllerSays) {
  Pi2Marker pi2(kRfc);
  (void)leave(pi2, 25ms, Time{15ms});
  EXPECT_EQ(pi2.base_probability(), 0) << "no update is due yet";
  (void)leave(pi2, 40ms, Time{16ms});  // the update sees 25 ms: 0.16 x 0.010 + 3.2 x 0.025
  EXPECT_NEAR(pi2.base_probability(), 0.0816, 1e-12);
  (void)leave(pi2, 40ms, Time{32ms});  // 40 ms: 0.16 x 0.025 + 3.2 x 0.015
  EXPECT_NEAR(pi2.base_probability(), 0.0816 + 0.052, 1e-12);
  (void)leave(pi2, 20ms, Time{47ms});
  (void)leave(pi2, 20ms, Time{48ms});  // 20 ms: 0.16 x 0.005 - 3.2 x 0.020
  EXPECT_NEAR(pi2.base_probability(), 0.1336 - 0.0632, 1e-12);
  (void)pi2.on_dequeue(20ms, 0, Time{63ms});
  (void)leave(pi2, 0ms, Time{64ms});  // an empty queue has no delay: - 0.16 x 0.015 - 3.2 x 0.020
  EXPECT_NEAR(pi2.base_probability(), 0.0704 - 0.0664, 1e-12);
  (void)leave(pi2, 0ms, Time{96ms});  // twice - 0.16 x 0.015: never negative
  EXPECT_EQ(pi2.base_probability(), 0);
}

// p' = 0.5 marks every fourth packet, evenly. Without the square it is every second.
TEST(Pi2Marker, MarksWithTheSquare) {
  Pi2Marker::Params params = kRfc;
  params.alpha = 0;
  params.beta = 10;
  Pi2Marker pi2(params);
  (void)leave(pi2, 50ms, Time{15ms});
  int marks = 0, gap = 0;
  for (int i = 0; i < 4000; ++i, ++gap)
    if (leave(pi2, 50ms, Time{16ms}) == MarkVerdict::kMark) {
      EXPECT_TRUE(marks == 0 || gap == 4) << i;
      gap = 0;
      ++marks;
    }
  EXPECT_DOUBLE_EQ(pi2.base_probability(), 0.5);
  EXPECT_NEAR(marks, 1000, 1);
}

TEST(Pi2Marker, CatchesUpOnEveryUpdateHoweverLongItSlept) {
  // Times and gains are binary fractions: no sum is rounded.
  constexpr Pi2Marker::Params kExact{
      .target = 15'625us, .t_update = 16ms, .alpha = 0.125, .beta = 2};
  Pi2Marker often(kExact), seldom(kExact);
  for (Time now{1ms}; now < Time{320ms}; now += 1ms) (void)leave(often, 31'250us, now);
  (void)leave(seldom, 31'250us, Time{1ms});
  (void)leave(seldom, 31'250us, Time{319ms});
  EXPECT_EQ(seldom.base_probability(), often.base_probability());
  ASSERT_GT(often.base_probability(), 0);
  // A step of 0.001 s^-1 x (delay - target) every 16 ms: 500 of them are 0.5.
  Pi2Marker left_empty({.target = 15ms, .t_update = 16ms, .alpha = 0.001, .beta = 0});
  Pi2Marker standing = left_empty;
  for (Pi2Marker* pi2 : {&left_empty, &standing}) {
    (void)leave(*pi2, 1015ms, Time{1ms});
    (void)leave(*pi2, 1015ms, Time{500 * 16ms});
    ASSERT_NEAR(pi2->base_probability(), 0.5, 1e-9);
  }
  (void)left_empty.on_dequeue(1015ms, 0, Time{8001ms});
  (void)leave(left_empty, 0ms, Time{1500 * 16ms});  // 1000 steps of 0.001 x - 0.015
  EXPECT_NEAR(left_empty.base_probability(), 0.5 - 0.015, 1e-9);
  (void)left_empty.on_dequeue(0ms, 0, Time{24001ms});
  (void)leave(left_empty, 0ms, Time{1h});
  (void)leave(standing, 1015ms, Time{1h});
  EXPECT_EQ(left_empty.base_probability(), 0);
  EXPECT_EQ(standing.base_probability(), 1);
}

// The same gains hold the target with few flows and with many. Reno marked with q has windows of
// about sqrt(2 / q): with the window that fills the path and the queue, p' is sqrt(2) / w.
TEST(Pi2Marker, HoldsRenoFlowsAtTheTarget) {
  constexpr Duration kPacket = 100us, kRtt = 20ms;
  for (const std::uint32_t flows : {5U, 20U, 50U}) {
    Pi2Marker pi2(kRfc);
    GreedyFlows greedy(flows, kPacket, kRtt);
    double delay_s = 0, base = 0;
    std::uint64_t late = 0;
    greedy.judge_departure = [&](Duration sojourn, std::uint64_t left, Time now) {
      const MarkVerdict verdict = pi2.on_dequeue(sojourn, left, now);
      if (now < Time{20s}) return verdict;
      delay_s += seconds(sojourn);
      base += pi2.base_probability();
      ++late;
      return verdict;
    };
    greedy.run(60s, 1s);
    const auto n = static_cast<double>(late);
    EXPECT_NEAR(delay_s / n, 0.015, 0.1 * 0.015) << flows;
    const double window = seconds(kRtt + kRfc.target) / seconds(kPacket) / flows;
    EXPECT_NEAR(base / n, std::sqrt(2) / window, 0.25 * std::sqrt(2) / window) << flows;
    EXPECT_GT(n * seconds(kPacket), 0.98 * 40) << "the link stays busy, " << flows;
  }
}

}  // namespace
}  // namespace outrider::pi2_marker_test
