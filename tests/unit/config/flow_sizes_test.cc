// Goal: sizes follow the file, and a file that is wrong says where. Method:
// literal files; quantiles and mean against the definition.
#include "trafficgen/background/flow_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/core/random.h"
#include "tests/support/source_path.h"

namespace outrider::flow_sizes_test {
using namespace tg;
namespace {

TEST(FlowSizes, InterpolatesLinearly) {
  const auto parsed = parse_flow_sizes("# a comment\n0 0\n100 0.5 # more\n\n1000 1\n");
  ASSERT_TRUE(parsed);
  const FlowSizes& sizes = *parsed.config;
  EXPECT_EQ(sizes.at(0), 1U) << "never an empty flow";
  EXPECT_EQ(sizes.at(0.25), 50U);
  EXPECT_EQ(sizes.at(0.5), 100U);
  EXPECT_EQ(sizes.at(0.75), 550U);
  EXPECT_EQ(sizes.at(0.999999), 999U + 1U);
  EXPECT_DOUBLE_EQ(sizes.mean_bytes(), 0.5 * 50 + 0.5 * 550);
}

TEST(FlowSizes, AFirstShareIsAnAtom) {
  const auto parsed = parse_flow_sizes("4096 0.25\n8192 1");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed.config->at(0), 4096U);
  EXPECT_EQ(parsed.config->at(0.2499), 4096U);
  EXPECT_EQ(parsed.config->at(0.625), 6144U);
  EXPECT_DOUBLE_EQ(parsed.config->mean_bytes(), 0.25 * 4096 + 0.75 * 6144);
  const auto single = parse_flow_sizes("1000 1");
  ASSERT_TRUE(single) << "all flows of one size";
  EXPECT_EQ(single.config->at(0.5), 1000U);
  EXPECT_DOUBLE_EQ(single.config->mean_bytes(), 1000);
}

TEST(FlowSizes, AFlatStepIsJumpedOver) {
  const auto parsed = parse_flow_sizes("0 0\n10 0.5\n90 0.5\n100 1");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed.config->at(0.4999999), 10U);
  EXPECT_EQ(parsed.config->at(0.5), 90U) << "nothing lies between";
}

TEST(FlowSizes, RefusalsNameLineAndRule) {
  struct Row {
    const char *text, *key, *rule;
  };
  constexpr Row kRows[] = {
      {"", "", "holds no point"},
      {"# only a comment\n", "", "holds no point"},
      {"0 0\n10\n", "line 2", "two numbers"},
      {"0 0\n\n10 0.5 1\n", "line 3", "two numbers"},
      {"0 0\nten 1\n", "line 2", "two numbers"},
      {"0 0\n10 1x\n", "line 2", "two numbers"},
      {"0 0\n10 nan\n", "line 2", "two numbers"},
      {"-1 0\n10 1\n", "line 1", "the size must be from 0"},
      {"0 -0.1\n10 1\n", "line 1", "must not be negative"},
      {"0 0\n10 15\n20 100\n", "line 2", "at most 1 (is it in per cent?)"},
      {"0 0\n10 0.5\n10 1\n", "line 3", "sizes must rise"},
      {"0 0\n20 0.5\n10 1\n", "line 3", "sizes must rise"},
      {"0 0\n10 0.5\n20 0.4\n30 1\n", "line 3", "shares must not fall"},
      {"0 0\n10 0.5\n20 0.9\n", "line 3", "the last share must be 1"},
      {"0 1\n", "line 1", "at least 1 byte"},
  };
  for (const Row& row : kRows) {
    const auto parsed = parse_flow_sizes(row.text);
    ASSERT_FALSE(parsed) << row.text;
    EXPECT_EQ(parsed.issues[0].key, row.key) << row.text;
    EXPECT_THAT(parsed.issues[0].problem, ::testing::HasSubstr(row.rule)) << row.text;
  }
  EXPECT_EQ(load_flow_sizes("/nowhere.cdf").issues.at(0).problem,
            "cannot be opened: No such file or directory");
  EXPECT_EQ(load_flow_sizes("/").issues.at(0).problem, "is a directory, not a file");
  EXPECT_EQ(load_flow_sizes("/dev/zero").issues.at(0).problem,
            "must be a regular file, and is a device");
}

TEST(FlowSizes, ThePublishedOnesHaveTheirMeans) {
  struct Row {
    const char* name;
    double mean_bytes;  ///< computed apart from the points, as sums of share times middle
  };
  constexpr Row kRows[] = {{"web-search", 1'711'250},
                           {"data-mining", 12'658'198.6},
                           {"hadoop", 120'420.75},
                           {"ali-storage", 40'869.8}};
  for (const Row& row : kRows) {
    const auto sizes = load_flow_sizes(source_path("conf/distributions/") + row.name + ".cdf");
    ASSERT_TRUE(sizes) << row.name;
    EXPECT_NEAR(sizes.config->mean_bytes(), row.mean_bytes, row.mean_bytes * 1e-6) << row.name;
    RandomStream random(1, 0, RandomPurpose::kTest);
    double total = 0;
    constexpr int kDraws = 400'000;
    for (int i = 0; i < kDraws; ++i)
      total += static_cast<double>(sizes.config->at(random.uniform()));
    EXPECT_NEAR(total / kDraws, row.mean_bytes, row.mean_bytes * 0.03) << row.name;
  }
}

}  // namespace
}  // namespace outrider::flow_sizes_test
