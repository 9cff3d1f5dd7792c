// Goal: figures of a series count every loss, the series itself stays bounded.
#include "trafficgen/learner/loss_series.h"

#include <gtest/gtest.h>

#include <limits>

namespace outrider::loss_series_test {
using namespace tg;
namespace {

LearnerReport report_of(const LossSeries& series) {
  LearnerReport r;
  series.fill(r);
  return r;
}

TEST(LossSeries, KeepsTheFirstTimeThatTheTargetIsReached) {
  LossSeries series(0.5);
  const double losses[] = {0.7, 0.6, 0.5, 0.4, 0.55, 0.45};
  for (int i = 0; i < 6; ++i) series.add({i * 10, static_cast<std::uint64_t>(i), losses[i]});
  const LearnerReport r = report_of(series);
  EXPECT_EQ(r.target_ns, 20) << "at the target counts";
  EXPECT_EQ(r.target_gradients, 2);
  EXPECT_EQ(r.first_loss, 0.7);
  EXPECT_EQ(r.last_loss, 0.45);
  EXPECT_EQ(r.least_loss, 0.4);
  EXPECT_EQ(r.losses.size(), 6U);
  EXPECT_EQ(r.diverged_ns, -1);
}

TEST(LossSeries, ATargetThatIsNeverReached) {
  LossSeries series(0.1);
  series.add({5, 1, 0.7});
  EXPECT_EQ(report_of(series).target_ns, -1);
  EXPECT_EQ(report_of(series).target_gradients, -1);
  EXPECT_EQ(report_of(LossSeries(std::nullopt)).target_loss, -1);
}

TEST(LossSeries, IsThinnedEvenly) {
  LossSeries series(std::nullopt);
  constexpr int kLosses = 5 * static_cast<int>(LossSeries::kPoints) + 3;
  for (int i = 0; i < kLosses; ++i) series.add({i, static_cast<std::uint64_t>(i), 1.0 + i});
  const LearnerReport r = report_of(series);
  EXPECT_EQ(r.losses_every, 8U);
  EXPECT_LE(r.losses.size(), LossSeries::kPoints);
  EXPECT_GT(r.losses.size(), LossSeries::kPoints / 2);
  for (std::size_t i = 0; i < r.losses.size(); ++i)
    EXPECT_EQ(r.losses[i].at_ns, static_cast<std::int64_t>(8 * i));
  EXPECT_EQ(r.last_loss, kLosses) << "the last one, kept in the series or not";
}

TEST(LossSeries, EndsWhereTheLossIsNoNumber) {
  for (const double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    LossSeries series(0.5);
    series.add({1, 0, 0.7});
    series.add({2, 1, bad});
    series.add({3, 2, 0.3});
    const LearnerReport r = report_of(series);
    EXPECT_EQ(r.diverged_ns, 2);
    EXPECT_EQ(r.last_loss, 0.7);
    EXPECT_EQ(r.target_ns, -1);
    EXPECT_EQ(r.losses.size(), 1U);
  }
}

}  // namespace
}  // namespace outrider::loss_series_test
