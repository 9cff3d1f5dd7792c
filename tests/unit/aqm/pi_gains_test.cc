// Goal: a controller whose gains follow from its target does at any target what the RFC's does at
// 15 ms. Method: the values of both RFCs, and PIE played twice, at 15 ms and with every time
// divided by the same number: its probability must be the same after each update.
#include "switch/aqm/pi_gains.h"

#include <gtest/gtest.h>

#include <vector>

#include "switch/aqm/pie_marker.h"

namespace outrider::pi_gains_test {
namespace {

using namespace std::chrono_literals;

PieMarker::Params pie_at(Duration target) {
  const PiGains gains = scaled_gains(kPieReference, target);
  return {.target = target, .t_update = gains.t_update, .alpha = gains.alpha, .beta = gains.beta};
}

/// Returns PIE's probability at the ends of the first 40 periods of length `target`, while the
/// sojourn rises to eight times the target and falls again.
std::vector<double> probabilities(Duration target) {
  PieMarker pie(pie_at(target));
  std::vector<double> seen;
  for (int i = 1; i <= 40; ++i) {
    const int level = i <= 20 ? i * 8 / 20 : (40 - i) * 8 / 20;
    for (int part = 1; part <= 100; ++part)
      pie.on_dequeue(target * level, 100'000, Time{target * (100 * (i - 1) + part) / 100});
    seen.push_back(pie.probability());
  }
  return seen;
}

TEST(PiGains, AreTheRfcsAtTheirTarget) {
  const PiGains pie = scaled_gains(kPieReference, 15ms);
  EXPECT_EQ(pie.t_update, 15ms);
  EXPECT_EQ(pie.alpha, 0.125);
  EXPECT_EQ(pie.beta, 1.25);
  const PiGains pi2 = scaled_gains(kPi2Reference, 15ms);
  EXPECT_EQ(pi2.t_update, 16ms);
  EXPECT_EQ(pi2.alpha, 0.16);
  EXPECT_EQ(pi2.beta, 3.2);
}

TEST(PiGains, GrowAsTheTargetShrinks) {
  const PiGains pie = scaled_gains(kPieReference, 600us);  // 15 ms / 25
  EXPECT_EQ(pie.t_update, 600us);
  EXPECT_DOUBLE_EQ(pie.alpha, 3.125);
  EXPECT_DOUBLE_EQ(pie.beta, 31.25);
  EXPECT_EQ(scaled_gains(kPi2Reference, 150us).t_update, 160us);
  EXPECT_EQ(scaled_gains(kPieReference, Duration{1}).t_update, Duration{1}) << "never 0";
}

TEST(PiGains, AFasterNetworkHasTheSameProbabilities) {
  const auto internet = probabilities(15ms);
  const auto rack = probabilities(150us);
  ASSERT_EQ(internet.size(), rack.size());
  ASSERT_GT(internet[19], 0.01) << "the controller has to move";
  for (std::size_t i = 0; i < internet.size(); ++i)
    EXPECT_NEAR(rack[i], internet[i], 1e-9) << "after update " << i + 1;
}

}  // namespace
}  // namespace outrider::pi_gains_test
