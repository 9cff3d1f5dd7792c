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

}  // namespace
}  // namespace outrider::rto_estimator_test
