// Goal: the best of each family is the quickest and the quickest that costs little, and an arm that
// was lucky in one figure alone is not. Method: literal figures of a handful of arms.
#include "tools/lab/search/best_arms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tools/lab/search/best_text.h"

namespace outrider::best_arms_test {
using namespace lab;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr BestRule kRule{.cheap = 0.1, .spared = 1.1};
constexpr double kNever = std::numeric_limits<double>::infinity();

Estimate around(double value) { return {value, value - 0.05, value + 0.05}; }

BestArm arm(const std::string& label, const std::string& family, double time, double lost,
            double short_p99) {
  return {.label = label,
          .family = family,
          .objective = around(time),
          .p99 = 2 * time,
          .lost = around(lost),
          .short_p99 = short_p99,
          .seeds = 20};
}

/// [1] and [2] are one queue, [3] to [5] are announced.
BestArms some_arms() {
  return {arm("off", "", 2.5, 0, 1.0),
          arm("off-red", "one", 1.8, 0.02, 0.9),
          arm("off-step", "one", 1.5, 0.6, 1),
          arm("on-mark", "announced", 1.2, 0.5, 3.0),
          arm("on-pace", "announced", 1.3, 0.05, 3.0),
          arm("on-window", "announced", 1.34, 0.1, 1.05)};
}

TEST(BestArms, OfEachFamilyTheQuickestAndTheQuickestThatCostsLittle) {
  const auto best = best_of_families(some_arms(), kRule);
  ASSERT_EQ(best.size(), 2U) << "the baseline is of none";
  EXPECT_EQ(best[0].family, "one");
  EXPECT_EQ(best[0].quickest, 2U);
  EXPECT_EQ(best[0].cheap, 1U);
  EXPECT_EQ(best[1].quickest, 3U);
  EXPECT_EQ(best[1].cheap, 4U);
  BestArms dear = some_arms();
  for (BestArm& one : dear) one.lost = around(1);
  EXPECT_FALSE(best_of_families(dear, kRule)[1].cheap);
}

TEST(BestArms, VerifiesThemAndTheQuickestThatSparesShortFlows) {
  EXPECT_THAT(worth_verifying(some_arms(), kRule), ElementsAre(1, 2, 3, 4, 5));
  BestArms arms = some_arms();
  arms[5].short_p99 = 1.2;  // spares none any more
  EXPECT_THAT(worth_verifying(arms, kRule), ElementsAre(1, 2, 3, 4)) << "off-red spares them too";
  arms[1].short_p99 = 2;
  EXPECT_THAT(worth_verifying(arms, kRule), ElementsAre(0, 1, 2, 3, 4)) << "the baseline does";
}

TEST(BestArms, WhatIsNotKnownIsNeitherQuickNorCheap) {
  BestArms arms = some_arms();
  arms[3].objective = {};
  arms[4].lost = {};
  arms[2].objective.value = kNever;
  const auto best = best_of_families(arms, kRule);
  EXPECT_EQ(best[0].quickest, 1U);
  EXPECT_EQ(best[1].quickest, 4U);
  EXPECT_EQ(best[1].cheap, 5U);
}

TEST(BestArms, WithoutShortFlowsAllSpareThem) {
  BestArms arms = some_arms();
  for (BestArm& one : arms) one.short_p99 = kNotDefined;
  EXPECT_EQ(choose(arms, kRule).sparing, 4U);
}

TEST(BestArms, AChoiceNamesWhatIsAsQuickAndAsCheap) {
  const BestChoice choice = choose(some_arms(), kRule);
  EXPECT_EQ(choice.quickest, 3U);
  EXPECT_EQ(choice.cheap, 4U);
  EXPECT_FALSE(choice.dearer) << "the interval of on-pace reaches that of on-mark";
  EXPECT_THAT(choice.as_good, ElementsAre(5));
  EXPECT_EQ(choice.sparing, 5U);
  BestArms apart = some_arms();
  apart[3].objective = around(1.1);
  EXPECT_TRUE(choose(apart, kRule).dearer);
  apart[5].objective = around(1.5);
  EXPECT_THAT(choose(apart, kRule).as_good, IsEmpty());
}

TEST(BestArms, TheBaselineIsCheapAndSparesByDefinition) {
  BestArms arms = some_arms();
  for (std::size_t i = 1; i < arms.size(); ++i) arms[i].lost = around(1);
  arms[0].lost = {};
  const BestChoice choice = choose(arms, kRule);
  EXPECT_EQ(choice.cheap, 0U);
  EXPECT_EQ(choice.sparing, 0U);
  EXPECT_TRUE(choice.dearer);
}

TEST(BestArms, AnArmThatItsFamilyBeatsInEverythingCannotWin) {
  BestArms arms = some_arms();
  EXPECT_THAT(may_win(arms), ElementsAre(0, 1, 2, 3, 4, 5));
  arms[4] = arm("on-pace", "announced", 1.5, 0.5, 3.0);
  EXPECT_THAT(may_win(arms), ElementsAre(0, 1, 2, 3, 5)) << "on-window is better in all three";
  arms[4].short_p99 = 1.0;
  EXPECT_THAT(may_win(arms), ElementsAre(0, 1, 2, 3, 4, 5)) << "it spares short flows more";
  arms[4] = arm("on-pace", "announced", 1.5, 0.5, 3.0);
  arms[5].objective.low = arms[5].objective.high = kNotDefined;
  EXPECT_THAT(may_win(arms), ElementsAre(0, 1, 2, 3, 4, 5)) << "one seed or two drop nothing";
}

TEST(BestArms, AnIntervalIsNarrowByItsWiderSide) {
  EXPECT_TRUE(is_narrow({1, 0.98, 1.02}, 0.02 + 1e-12));
  EXPECT_FALSE(is_narrow({1, 0.98, 1.03}, 0.02 + 1e-12));
  EXPECT_FALSE(is_narrow({1, 0.97, 1.01}, 0.02 + 1e-12));
  EXPECT_FALSE(is_narrow({1, kNotDefined, kNotDefined}, 0.5)) << "too few seeds";
  EXPECT_TRUE(is_narrow({kNever, kNever, kNever}, 0.02)) << "further seeds do not mend it";
}

/// Returns a result of three arms at one point.
Results summary() {
  const auto one = [](const char* label, bool off, double time) {
    const auto value = [](double v) { return Estimate{v, v - 0.05, v + 0.05}; };
    ArmSummary arm{.label = label, .parameters = {}, .off = off, .cases = {0, 1}};
    arm.name = label;
    arm.metrics = {{"communication_over_alone_median", value(time)},
                   {kP99OfBest, value(2 * time)},
                   {kLostOfBest, value(0.01)},
                   {kShortOfBest}};
    return arm;
  };
  return {.experiment = "x",
          .arms = {one("on", false, 1.25), one("off", true, 2), one("off-red", false, 1.75)}};
}

TEST(BestText, ReadsAnyResultAndHasFamiliesOfASearch) {
  const auto plain = points_of("here", summary(), {}, kRule, {});
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].arms[0].label, "off") << "the baseline is the first";
  EXPECT_EQ(plain[0].arms.size(), 3U);
  const std::string table = best_markdown(plain);
  EXPECT_THAT(table, HasSubstr("| `here` | 2 | 2.00 | `on` | 1.25 [1.20, 1.30] | 2.50 | "
                               "0.01 [-0.04, 0.06] |  | none | the same | `on`: 1.25 |"));
  EXPECT_EQ(table.find("\n\n"), table.npos) << "no second table without families";
  const SearchJson search{
      {"objective", "communication_over_alone_median"},
      {"cheap", 0.001},
      {"spared", 1.1},
      {"arms",
       {{{"label", "off-red"}, {"family", "theirs"}}, {{"label", "on"}, {"family", "mine"}}}}};
  const auto searched = points_of("here", summary(), search, kRule, {});
  EXPECT_EQ(choose(searched[0].arms, searched[0].rule).cheap, 0U) << "the rule of the search";
  EXPECT_THAT(best_markdown(searched), HasSubstr("| `here` | `off-red` 1.75, lost 0.01 | "
                                                 "`on` 1.25, lost 0.01 |"))
      << "in the order of the search";
  EXPECT_THAT(best_text(searched), HasSubstr("of \"theirs\""));
}

TEST(BestText, TakesSomeArmsAndTheBaseline) {
  const auto points = points_of("here", summary(), {}, kRule, {"off-*"});
  ASSERT_EQ(points[0].arms.size(), 2U);
  EXPECT_EQ(points[0].arms[1].label, "off-red");
  Results none = summary();  // of run --references none
  for (auto& one : none.arms) {
    one.metrics[0].value = {};
    one.metrics.push_back({"communication_seconds_median", {0.1, 0.1, 0.1}});
  }
  try {
    (void)points_of("here", none, {}, kRule, {});
    ADD_FAILURE() << "they have no times to compare";
  } catch (const std::out_of_range& error) {
    EXPECT_THAT(error.what(), HasSubstr("without --references none"));
  }
  Results without = summary();
  for (auto& one : without.arms) one.off = false;
  EXPECT_THROW((void)points_of("here", without, {}, kRule, {}), std::out_of_range);
}

}  // namespace
}  // namespace outrider::best_arms_test
