#include "tools/lab/measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace outrider::statistics_test {
using namespace lab;
namespace {

TEST(Statistics, QuantilesInterpolateBetweenOrderStatistics) {
  struct Row {
    std::vector<double> values;
    double q, expected;
    const char* why;
  };
  const Row kRows[] = {
      {{4, 1, 3, 2}, 0.5, 2.5, "even count, any order"},
      {{5, 1, 3}, 0.5, 3, "odd count"},
      {{1, 2, 3, 4}, 0.99, 3.97, "rank 1 + 0.99 x 3"},
      {{1, 2, 3, 4}, 0, 1, "smallest"},
      {{1, 2, 3, 4}, 1, 4, "largest"},
      {{7}, 0.99, 7, "one value is every quantile"},
  };
  for (const auto& row : kRows)
    EXPECT_DOUBLE_EQ(quantile(row.values, row.q), row.expected) << row.why;
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
  EXPECT_TRUE(std::isnan(mean({})));
}

TEST(Statistics, OfValues) {
  const std::vector<double> values{10, 20, 60};
  const Statistics s = statistics_of(values);
  EXPECT_DOUBLE_EQ(s.mean, 30);
  EXPECT_DOUBLE_EQ(s.median, 20);
  EXPECT_DOUBLE_EQ(s.p99, 59.2);  // rank 1 + 0.99 x 2
  EXPECT_EQ(s.min, 10);
  EXPECT_EQ(s.max, 60);
  EXPECT_EQ(s.count, 3U);
  EXPECT_EQ(statistics_of(std::vector<double>{}).count, 0U);
  EXPECT_TRUE(std::isnan(statistics_of(std::vector<double>{}).mean));
}

TEST(Statistics, OfHistogramInAnotherUnit) {
  Histogram h;
  for (const std::uint64_t v : {1'000U, 2'000U, 6'000U}) h.record(v);
  const Statistics s = statistics_of(h, 1e-9);
  EXPECT_DOUBLE_EQ(s.mean, 3e-6);
  EXPECT_NEAR(s.median, 2e-6, 2e-8);
  EXPECT_DOUBLE_EQ(s.min, 1e-6);
  EXPECT_DOUBLE_EQ(s.max, 6e-6);
  EXPECT_EQ(s.count, 3U);
  EXPECT_TRUE(std::isnan(statistics_of(Histogram{}, 1).mean));
}

/// Returns the statistic "mean of values[i] over the choice".
auto mean_of(const std::vector<double>& values) {
  return [&values](std::span<const std::size_t> choice) {
    double sum = 0;
    for (const std::size_t i : choice) sum += values.at(i);
    return sum / static_cast<double>(choice.size());
  };
}

// Two values and their mean are no distribution: their bounds would pass for 95 % confidence.
TEST(Bootstrap, OfTwoSeedsHasNoInterval) {
  const std::vector<double> values{0, 10, 5};
  const Estimate two = bootstrap(2, mean_of(values));
  EXPECT_DOUBLE_EQ(two.value, 5);
  EXPECT_TRUE(std::isnan(two.low) && std::isnan(two.high));
  EXPECT_FALSE(std::isnan(bootstrap(3, mean_of(values)).low));
  const auto both = [](std::span<const std::size_t> a, std::span<const std::size_t> b) {
    return static_cast<double>(a[0]) - static_cast<double>(b[0]);
  };
  EXPECT_TRUE(std::isnan(bootstrap(2, 30, both).low));
  EXPECT_FALSE(std::isnan(bootstrap(3, 3, both).low));
}

TEST(Bootstrap, OfManySeedsIsNearTheNormalInterval) {
  std::vector<double> values;
  values.reserve(100);
  for (int i = 0; i < 100; ++i) values.push_back(i);  // mean 49.5, standard error 2.89
  const Estimate e = bootstrap(values.size(), mean_of(values));
  EXPECT_NEAR(e.low, 49.5 - 1.96 * 2.89, 0.8);
  EXPECT_NEAR(e.high, 49.5 + 1.96 * 2.89, 0.8);
}

TEST(Bootstrap, ChoosesSeedsAndIsDeterministic) {
  std::set<std::size_t> seen;
  std::size_t calls = 0;
  const auto watch = [&](std::span<const std::size_t> choice) {
    EXPECT_EQ(choice.size(), 3U);
    seen.insert(choice.begin(), choice.end());
    return static_cast<double>(choice[0] * 100 + choice[1] * 10 + choice[2]) +
           static_cast<double>(++calls > 0);
  };
  const Estimate first = bootstrap(3, watch), second = bootstrap(3, watch);
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 2}));
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

TEST(Bootstrap, WithoutEnoughToGoOn) {
  const std::vector<double> one{4};
  const Estimate single = bootstrap(1, mean_of(one));
  EXPECT_EQ(single.value, 4);
  EXPECT_TRUE(std::isnan(single.low));
  EXPECT_TRUE(std::isnan(bootstrap(0, mean_of(one)).value));

  // Resamples for which the statistic is not defined are left out.
  const auto partly = [](std::span<const std::size_t> choice) {
    return choice[0] == choice[1] ? kNotDefined : 3.0;
  };
  const Estimate e = bootstrap(3, partly);
  EXPECT_EQ(e.low, 3);
  EXPECT_EQ(e.high, 3);
}

}  // namespace
}  // namespace outrider::statistics_test
