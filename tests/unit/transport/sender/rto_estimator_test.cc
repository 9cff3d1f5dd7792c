#include "trafficgen/transport/sender/rto_estimator.h"

#include <gtest/gtest.h>

namespace outrider::rto_estimator_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

// The expected values were computed by hand from RFC 6298, section 2 [ns].
TEST(RtoEstimator, FollowsRfc6298) {
  struct Row {
    Duration sample, srtt, rto;
    const char* why;
  };
  constexpr Row kRows[] = {
      {800us, 800us, 2400us, "(2.2): rttvar = 400, 800 + 4 * 400"},
      {800us, 800us, 2000us, "(2.3): rttvar = 300"},
      {1600us, 900us, 2600us, "rttvar = 3/4 * 300 + 800/4 = 425; srtt = 800 + 800/8"},
      {100us, 800us, 2875us, "error -800: rttvar = 425 + (800 - 425)/4 = 518.75"},
      {800us, 800us, 2356252ns, "rttvar = 518750 - 129687 ns: division truncates"},
  };
  constexpr RtoEstimator::Bounds kBounds{1us, 60s};
  RtoEstimator e(1s, kBounds);
  EXPECT_EQ(e.rto(), 1s);
  EXPECT_EQ(e.srtt(), 0s);
  for (const Row& row : kRows) {
    e.on_sample(row.sample, kBounds);
    EXPECT_EQ(e.srtt(), row.srtt) << row.why;
    EXPECT_EQ(e.rto(), row.rto) << row.why;
  }
}

TEST(RtoEstimator, KeepsItsBounds) {
  constexpr RtoEstimator::Bounds kBounds{200ms, 3s};
  RtoEstimator e(1s, kBounds);
  e.on_sample(1ms, kBounds);
  EXPECT_EQ(e.rto(), 200ms);
  e.back_off(kBounds);
  EXPECT_EQ(e.rto(), 400ms);
  for (int i = 0; i < 100; ++i) e.back_off(kBounds);
  EXPECT_EQ(e.rto(), 3s);
  e.on_sample(1ms, kBounds);
  EXPECT_EQ(e.rto(), 200ms) << "a sample ends the back-off";
  e.on_sample(100s, kBounds);
  EXPECT_EQ(e.rto(), 3s);
}

TEST(RtoEstimator, ConstantSamplesLeaveTheGranularity) {
  constexpr RtoEstimator::Bounds kBounds{1ns, 60s};
  RtoEstimator e(1s, kBounds);
  for (int i = 0; i < 500; ++i) e.on_sample(1ms, kBounds);
  EXPECT_EQ(e.srtt(), 1ms);
  EXPECT_LE(e.rto(), 1ms + 12ns) << "integer division stops at rttvar = 3 ns";
}

// The expected values were computed by hand from the rule in the class's comment.
TEST(RtoEstimator, FollowsLinux) {
  struct Row {
    Duration sample;
    std::uint32_t una, nxt;
    Duration srtt, rto;
    const char* why;
  };
  constexpr Row kRows[] = {
      {8ms, 0, 10, 8ms, 208ms, "4 * 4 ms are less than the minimum"},
      {8ms, 5, 20, 8ms, 208ms, "deviation 3 ms"},
      {808ms, 6, 20, 108ms, 917ms, "deviation 3 + 797 / 4 = 202.25 ms"},
      {108ms, 7, 20, 108ms, 917ms, "deviation 151.6875 ms; the largest stays"},
      {108ms, 11, 30, 108ms, 917ms, "the round trip up to 10 is over, its largest counts"},
      {108ms, 12, 30, 108ms, 917ms, "113.765625 - 28.44140625 = 85.32421875 ms"},
      // 63.9931640625 ms; of the next round trip 4 * 85.32... = 341.296875 is the largest
      {108ms, 31, 40, 108ms, 800074219ns, "809 - (809 - 341.296875) / 4"},
  };
  constexpr RtoEstimator::Bounds kBounds{200ms, 60s};
  RtoEstimator e(1s, kBounds);
  for (const Row& row : kRows) {
    e.on_sample_like_linux(row.sample, {row.una, row.nxt}, kBounds);
    EXPECT_EQ(e.srtt(), row.srtt) << row.why;
    EXPECT_EQ(e.rto(), row.rto) << row.why;
  }
}

TEST(RtoEstimator, InLinuxTheMinimumIsAddedAndTheMaximumHolds) {
  constexpr RtoEstimator::Bounds kBounds{200ms, 3s};
  RtoEstimator e(1s, kBounds);
  for (std::uint32_t i = 1; i < 1000; ++i) e.on_sample_like_linux(50ms, {i, i + 1}, kBounds);
  EXPECT_EQ(e.rto(), 250ms) << "RFC 6298 would say 200";
  e.back_off(kBounds);
  EXPECT_EQ(e.rto(), 500ms);
  e.on_sample_like_linux(100s, {1000, 1001}, kBounds);
  EXPECT_EQ(e.rto(), 3s);
}

// A sample that is lower than usual is no reason to wait longer.
TEST(RtoEstimator, InLinuxARoundTripThatFallsHardlyCounts) {
  constexpr RtoEstimator::Bounds kBounds{1ns, 60s};
  RtoEstimator linux_one(1s, kBounds), rfc(1s, kBounds);
  for (int i = 0; i < 200; ++i) {
    linux_one.on_sample_like_linux(100ms, {0, 1}, kBounds);
    rfc.on_sample(100ms, kBounds);
  }
  linux_one.on_sample_like_linux(20ms, {2, 3}, kBounds);
  rfc.on_sample(20ms, kBounds);
  EXPECT_NEAR(seconds(rfc.rto()), 0.090 + 4 * 0.020, 1e-6);
  // The first sample's 200 ms has been the largest of the only round trip so far.
  EXPECT_LE(seconds(linux_one.rto()), 0.090 + 0.200);
  for (std::uint32_t i = 4; i < 200; ++i) linux_one.on_sample_like_linux(90ms, {i, i + 1}, kBounds);
  const double before = seconds(linux_one.rto() - linux_one.srtt());
  linux_one.on_sample_like_linux(10ms, {200, 201}, kBounds);
  EXPECT_NEAR(seconds(linux_one.rto() - linux_one.srtt()), before + 4 * 0.080 / 32, 2e-3);
}

}  // namespace
}  // namespace outrider::rto_estimator_test
