// Goal: compare finds a planted change of 5 % with 20 seeds, and none between equal results or
// between different seeds of the same configuration. Method: drawn results, in which seeds
// differ by 10 % and two runs of one seed by 2 %.
#include "tools/lab/summary/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/core/random.h"

namespace outrider::compare_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

const std::size_t kMetrics = compared_metrics().size();
constexpr std::size_t kCommunication = 3;

double normal(RandomStream& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

/// Returns a drawn result. @param run key of the differences between runs of the same seeds
ComparableResult drawn(std::uint64_t first_seed, std::size_t seeds, std::uint32_t run,
                       double communication_factor = 1) {
  ComparableResult result{"e", "virtual", {}};
  for (const char* label : {"off", "on"}) {
    ComparableArm& arm = result.arms.emplace_back();
    arm.label = label;
    arm.parameters = {{"k_packets", "40"}};
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      RandomStream shared(seed, 0, RandomPurpose::kTest);
      RandomStream own(seed, 1 + run + (*label == 'o' && label[1] == 'n' ? 100 : 0),
                       RandomPurpose::kTest);
      SeedValues values{.seed = seed, .values = {}};
      for (std::size_t m = 0; m < kMetrics; ++m)
        values.values.push_back(100 * std::exp(0.1 * normal(shared) + 0.02 * normal(own)) *
                                (m == kCommunication ? communication_factor : 1));
      arm.seeds.push_back(values);
    }
    arm.values.assign(kMetrics, 100);
  }
  return result;
}

TEST(Compare, EqualResultsDoNotDiffer) {
  const auto a = drawn(1, 20, 0);
  const Comparison c = compare(a, a);
  EXPECT_EQ(c.compared, 2 * kMetrics);
  EXPECT_EQ(c.changed, 0U);
  for (const auto& arm : c.arms)
    for (const auto& m : arm.metrics) {
      EXPECT_EQ(m.p, 1);
      EXPECT_EQ(m.change.value, 0);
    }
}

TEST(Compare, FindsAPlantedFivePercentWithTwentySeeds) {
  int found = 0, false_ones = 0;
  constexpr int kTrials = 40;
  for (int t = 0; t < kTrials; ++t) {
    const std::uint64_t first = 1 + 20 * static_cast<std::uint64_t>(t);
    const Comparison c = compare(drawn(first, 20, 0), drawn(first, 20, 1, 1.05));
    bool both = true;
    for (const auto& arm : c.arms)
      for (std::size_t m = 0; m < kMetrics; ++m)
        if (m == kCommunication) both &= arm.metrics[m].changed;
        else false_ones += arm.metrics[m].changed;
    found += both;
    const Estimate& change = c.arms[0].metrics[kCommunication].change;
    EXPECT_NEAR(change.value, 0.05, 0.035);
    EXPECT_LT(change.low, change.value);
    EXPECT_GT(change.high, change.value);
  }
  EXPECT_GE(found, kTrials - 2);
  EXPECT_LE(false_ones, 6) << "at most 5 in 100 results, with luck on neither side";
}

TEST(Compare, OtherSeedsOfTheSameDoNotDiffer) {
  int with_changes = 0;
  for (int t = 0; t < 20; ++t) {
    const std::uint64_t first = 1 + 40 * static_cast<std::uint64_t>(t);
    const Comparison c = compare(drawn(first, 20, 0), drawn(first + 20, 20, 0));
    EXPECT_FALSE(c.arms[0].paired);
    with_changes += c.changed != 0;
  }
  EXPECT_LE(with_changes, 4) << "5 % of 20";
}

TEST(Compare, TellsWhatItCannotDecide) {
  const Comparison c = compare(drawn(1, 3, 0), drawn(1, 3, 1, 2));
  EXPECT_TRUE(c.too_few_seeds) << "2^-2 is the smallest p of three";
  EXPECT_EQ(c.changed, 0U);
  EXPECT_FALSE(compare(drawn(1, 20, 0), drawn(1, 20, 1)).too_few_seeds);
}

TEST(Compare, NamesWhatDiffersAndWhatIsMissing) {
  auto a = drawn(1, 5, 0), b = drawn(1, 5, 0);
  a.arms[0].parameters = {{"k_packets", "40"}, {"tcp", "\"cubic\""}};
  b.arms[0].parameters = {{"k_packets", "20"}, {"tcp", "\"cubic\""}};
  b.arms[1].label = "on-hold";
  const Comparison c = compare(a, b);
  ASSERT_EQ(c.arms.size(), 1U);
  ASSERT_EQ(c.arms[0].differences.size(), 1U);
  EXPECT_EQ(c.arms[0].differences[0], (std::array<std::string, 3>{"k_packets", "40", "20"}));
  EXPECT_EQ(c.only_a, std::vector<std::string>{"on"});
  EXPECT_EQ(c.only_b, std::vector<std::string>{"on-hold"});
  const std::string text = to_text(c);
  EXPECT_NE(text.find("k_packets: 40 -> 20"), std::string::npos) << text;
  EXPECT_NE(text.find("only in A: on\n"), std::string::npos);
}

// The table pools the iterations of all seeds; a mean of the seeds' medians is another number.
TEST(Compare, ShowsTheFiguresOfTheTables) {
  auto a = drawn(1, 5, 0), b = drawn(1, 5, 0);
  a.arms[0].values[kCommunication] = 0.25;
  b.arms[0].values[kCommunication] = 0.5;
  const Comparison c = compare(a, b);
  const MetricComparison& m = c.arms[0].metrics[kCommunication];
  EXPECT_EQ(m.a, 0.25);
  EXPECT_EQ(m.b, 0.5);
  EXPECT_EQ(m.change.value, 0) << "no seed changed";
  const std::string text = to_text(c);
  EXPECT_NE(text.find("250.0      500.0"), std::string::npos) << text;
  EXPECT_NE(text.find("A, B: as in their tables, all seeds together."), std::string::npos);
}

// Several arms of one label, at different points of the matrix, are matched by their order.
TEST(Compare, TakesArmsOfOneLabelInOrder) {
  auto a = drawn(1, 12, 0);
  a.arms[1].label = "off";
  auto b = a;
  for (auto& seed : b.arms[1].seeds) seed.values[0] *= 1.5;
  const Comparison c = compare(a, b);
  ASSERT_EQ(c.arms.size(), 2U);
  EXPECT_FALSE(c.arms[0].metrics[0].changed);
  EXPECT_TRUE(c.arms[1].metrics[0].changed);
}

TEST(Compare, ValuesThatAreNotAboveZeroAreSubtracted) {
  auto a = drawn(1, 12, 0), b = a;
  for (std::size_t i = 0; i < 12; ++i) {
    a.arms[0].seeds[i].values[7] = 0;
    b.arms[0].seeds[i].values[7] = 0.25;
    a.arms[0].seeds[i].values[0] = kNotDefined;
    b.arms[0].seeds[i].values[0] = kNotDefined;
  }
  a.arms[0].values[0] = b.arms[0].values[0] = kNotDefined;
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.arms[0].metrics.size(), kMetrics - 1) << "what neither has is not compared";
  const auto& rtos = c.arms[0].metrics.back();
  EXPECT_FALSE(rtos.relative);
  EXPECT_DOUBLE_EQ(rtos.change.value, 0.25);
  EXPECT_TRUE(rtos.changed);
}

TEST(CompareJson, IsJson) {
  const auto json = nlohmann::json::parse(to_json(compare(drawn(1, 6, 0), drawn(1, 6, 1))));
  EXPECT_EQ(json["compared"], 2 * kMetrics);
  EXPECT_EQ(json["arms"][0]["metrics"][kCommunication]["metric"], "communication");
}

}  // namespace
}  // namespace outrider::compare_test
