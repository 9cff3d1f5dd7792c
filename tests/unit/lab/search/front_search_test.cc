// Goal: the search keeps candidates that may be on a front and drops those that are dominated
// beyond their uncertainty. Areas and gains are right. Method: literal samples.
#include "tools/lab/search/front_search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace outrider::front_search_test {
using namespace lab;
namespace {

using Indices = std::vector<std::size_t>;

Estimate known(double value, double low, double high) { return {value, low, high}; }

/// Returns a candidate with one iteration per sample.
/// @param seconds [seeds] communication times. @param lost [seeds] bytes lost of 100
FrontCandidate candidate(const std::string& family, bool ours, const std::vector<double>& seconds,
                         const std::vector<double>& lost) {
  FrontCandidate c{.family = family, .label = family, .ours = ours};
  for (std::size_t i = 0; i < seconds.size(); ++i)
    c.samples.push_back(
        {.communication_seconds = {seconds[i]}, .lost_bytes = lost[i], .reference_bytes = 100});
  return c;
}

const std::vector<FrontSample> kAlone(6, {.communication_seconds = {1.0}});
constexpr auto kMedian = FrontObjective::kMedian;
constexpr auto kP99 = FrontObjective::kP99;

/// Picks fronts with the first `searched` seeds and estimates areas with the `reported` ones.
std::vector<FamilyFront> fronts_of(const std::vector<FrontCandidate>& candidates,
                                   std::size_t searched, SeedRange reported,
                                   const FrontPoint& reference) {
  auto fronts = pick_fronts(kMedian, candidates, kAlone, searched);
  estimate_areas(kMedian, candidates, kAlone, reported, reference, fronts);
  return fronts;
}

TEST(FrontSearch, APointIsTheRatioOfMediansAndTheLossOfAllBytes) {
  FrontCandidate c{.family = "a", .label = "a"};
  c.samples = {{.communication_seconds = {2, 4}, .lost_bytes = 1, .reference_bytes = 100},
               {.communication_seconds = {6}, .lost_bytes = 20, .reference_bytes = 200},
               {.communication_seconds = {}}};  // no complete iteration and no cost
  const std::vector<FrontSample> alone{{.communication_seconds = {1, 3}},
                                       {.communication_seconds = {2}},
                                       {.communication_seconds = {2}}};
  const FrontPoint all = point_of(kMedian, c, alone, Indices{0, 1, 2});
  EXPECT_EQ(all.time, 4.0 / 2.0);
  EXPECT_EQ(all.cost, 21.0 / 300);
  EXPECT_EQ(point_of(kMedian, c, alone, Indices{1, 1}).time, 3);
  EXPECT_TRUE(std::isnan(point_of(kMedian, c, alone, Indices{2}).time));
  EXPECT_TRUE(std::isnan(point_of(kMedian, c, alone, Indices{2}).cost));
}

TEST(FrontSearch, TheTailIsComparedWithTheMedianOfAlone) {
  FrontCandidate c{.family = "a", .label = "a"};
  c.samples = {{.communication_seconds = std::vector<double>(99, 2.0)}};
  c.samples[0].communication_seconds.push_back(40);
  const std::vector<FrontSample> alone{{.communication_seconds = {1, 1, 9}}};
  // Rank 1 + 0.99 x 99 of 100: 1 % of the way from the last 2 to 40.
  EXPECT_NEAR(point_of(kP99, c, alone, Indices{0}).time, 2 + 0.01 * 38, 1e-12);
  EXPECT_EQ(point_of(kMedian, c, alone, Indices{0}).time, 2);
}

TEST(FrontSearch, AnIterationThatDidNotEndIsInfinitelyLong) {
  FrontCandidate c{.family = "a", .label = "a"};
  c.samples = {{.communication_seconds = {2, 4}, .incomplete = 1},
               {.communication_seconds = {}, .incomplete = 2}};
  const std::vector<FrontSample> alone{{.communication_seconds = {1}},
                                       {.communication_seconds = {1}}};
  EXPECT_EQ(point_of(kMedian, c, alone, Indices{0}).time, 4);
  EXPECT_TRUE(std::isinf(point_of(kP99, c, alone, Indices{0}).time));
  EXPECT_TRUE(std::isinf(point_of(kMedian, c, alone, Indices{1}).time));
  EXPECT_TRUE(std::isinf(estimate_of(kMedian, c, alone, {1, 1}).time.value));
}

TEST(FrontSearch, AnEstimateStandsOnItsSeedsAlone) {
  const FrontCandidate c = candidate("a", false, {1, 1, 1, 5, 5, 5}, {0, 0, 0, 50, 50, 50});
  const FrontEstimate searched = estimate_of(kMedian, c, kAlone, {0, 3});
  EXPECT_EQ(searched.time.value, 1);
  EXPECT_EQ(searched.cost.high, 0);
  const FrontEstimate reported = estimate_of(kMedian, c, kAlone, {3, 3});
  EXPECT_EQ(reported.time.low, 5);
  EXPECT_EQ(reported.cost.value, 0.5);
}

TEST(FrontSearch, ClearlyDominatesIfTheIntervalsAreApart) {
  const FrontEstimate good{known(2, 1.5, 2.5), known(0.02, 0.01, 0.03)};
  EXPECT_TRUE(clearly_dominates(good, {known(3, 2.6, 3.5), known(0.05, 0.04, 0.06)}));
  EXPECT_FALSE(clearly_dominates(good, {known(3, 2.4, 3.5), known(0.05, 0.04, 0.06)}))
      << "times overlap";
  EXPECT_FALSE(clearly_dominates(good, {known(3, 2.6, 3.5), known(0.05, 0.02, 0.06)}))
      << "costs overlap";
  EXPECT_FALSE(clearly_dominates(good, good));
  const FrontEstimate one_seed{{.value = 1}, {.value = 0}};
  EXPECT_FALSE(clearly_dominates(one_seed, good));
  EXPECT_FALSE(clearly_dominates(good, {{.value = 9}, {.value = 9}}));
}

TEST(FrontSearch, SendsAwayWhatItsOwnSystemBeatsAlone) {
  std::vector<FrontCandidate> candidates(5);
  for (auto& c : candidates) c.family = "a";
  candidates[3].family = "b";
  const FrontEstimate good{known(2, 1.9, 2.1), known(0.02, 0.01, 0.03)};
  const FrontEstimate bad{known(3, 2.9, 3.1), known(0.09, 0.08, 0.1)};
  const FrontEstimate unsure{known(3, 2.0, 4.0), known(0.09, 0.0, 0.2)};
  EXPECT_EQ(survivors(candidates, std::vector<FrontEstimate>{good, bad, unsure, bad, {}}),
            (Indices{0, 2, 3}))
      << "[3] is all that its family has; [4] was not measured";
  EXPECT_EQ(survivors(candidates, std::vector<FrontEstimate>{good, good, good, good, good}),
            (Indices{0, 1, 2, 3, 4}))
      << "equal ones stay";
}

TEST(FrontSearch, AreaAndGainOverTheBestBaseline) {
  const FrontPoint reference{.time = 5, .cost = 0.5};
  const std::vector<FrontCandidate> candidates{
      candidate("ours", true, {2, 2, 2, 2}, {10, 10, 10, 10}),     // 3 x 0.4
      candidate("ours", true, {1, 1, 1, 1}, {30, 30, 30, 30}),     // and another 1 x 0.2
      candidate("ours", true, {3, 3, 3, 3}, {20, 20, 20, 20}),     // dominated
      candidate("weak", false, {4, 4, 4, 4}, {0, 0, 0, 0}),        // 1 x 0.5
      candidate("strong", false, {3, 3, 3, 3}, {10, 10, 10, 10}),  // 2 x 0.4
      candidate("ours", true, {1, 1}, {0, 0}),                     // dropped before the end
  };
  const auto fronts = fronts_of(candidates, 4, {0, 4}, reference);
  ASSERT_EQ(fronts.size(), 3U);
  EXPECT_EQ(fronts[0].name, "ours");
  EXPECT_EQ(fronts[0].front, (Indices{1, 0}));
  EXPECT_EQ(fronts[0].settings, 4U) << "also what was dropped";
  EXPECT_NEAR(fronts[0].area.value, 1.4, 1e-12);
  EXPECT_NEAR(fronts[0].gain.value, 1.4 - 0.8, 1e-12);
  EXPECT_NEAR(fronts[0].gain.low, 0.6, 1e-12) << "all seeds are alike";
  EXPECT_NEAR(fronts[0].gain.high, 0.6, 1e-12);
  EXPECT_EQ(fronts[1].name, "weak");
  EXPECT_NEAR(fronts[1].area.value, 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(fronts[1].gain.value)) << "a baseline gains nothing";
}

TEST(FrontSearch, TheGainIsAsUncertainAsItsSeeds) {
  const std::vector<FrontCandidate> candidates{
      candidate("ours", true, {1, 3, 1, 3}, {10, 10, 10, 10}),
      candidate("base", false, {2, 2, 2, 2}, {10, 10, 10, 10}),
  };
  const auto fronts = fronts_of(candidates, 4, {0, 4}, {.time = 5, .cost = 0.5});
  EXPECT_NEAR(fronts[0].gain.value, 0, 1e-12);
  EXPECT_LT(fronts[0].gain.low, -0.3);
  EXPECT_GT(fronts[0].gain.high, 0.3);
}

TEST(FrontSearch, LuckInTheSearchDoesNotCountInTheResult) {
  const std::vector<FrontCandidate> candidates{
      candidate("a", true, {1, 1, 4, 4}, {10, 10, 10, 10}),  // lucky at first
      candidate("a", true, {2, 2}, {10, 10}),                // not picked, so without more seeds
      candidate("b", false, {3, 3, 3, 3}, {10, 10, 10, 10}),
  };
  const auto fronts = fronts_of(candidates, 2, {2, 2}, {.time = 5, .cost = 0.5});
  EXPECT_EQ(fronts[0].front, Indices{0});
  EXPECT_NEAR(fronts[0].area.value, 1 * 0.4, 1e-12);
  EXPECT_NEAR(fronts[0].gain.value, 1 * 0.4 - 2 * 0.4, 1e-12);
}

}  // namespace
}  // namespace outrider::front_search_test
