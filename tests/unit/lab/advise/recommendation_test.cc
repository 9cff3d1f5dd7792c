// Goal: what is advised keeps the user's goal, is the simplest of those that are as good, and is
// nothing where nothing is surely gained. Method: literal remedies.
#include "tools/lab/advise/recommendation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tools/lab/advise/advice_text.h"

namespace outrider::recommendation_test {
using namespace lab;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kToday_seconds = 1.0;

/// Returns a remedy whose time is known to 1 %.
Remedy remedy(RemedyKind kind, const std::string& label, double seconds, double lost,
              double short_flows = 1) {
  return {.label = label,
          .nature = {.kind = kind},
          .seeds = 12,
          .time_seconds = {seconds, 0.99 * seconds, 1.01 * seconds},
          .tail_seconds = {seconds, seconds, seconds},
          .change = {seconds / kToday_seconds - 1, 0.99 * seconds - 1, 1.01 * seconds - 1},
          .over_alone = seconds / 0.5,
          .lost = {lost, lost, lost},
          .short_flows = short_flows};
}

const Remedy kOff = remedy(RemedyKind::kNothing, "off", kToday_seconds, 0);

std::string advised(const std::vector<Remedy>& all, const AdviceGoal& goal = {}) {
  return all[recommend(all, goal).chosen].label;
}

TEST(Recommendation, IsTheQuickestThatKeepsTheGoal) {
  const std::vector<Remedy> all{kOff, remedy(RemedyKind::kWindow, "window", 0.7, 0.05),
                                remedy(RemedyKind::kPace, "pace", 0.6, 0.3),
                                remedy(RemedyKind::kTwoQueues, "strict", 0.5, 0.0, 3.0)};
  EXPECT_EQ(advised(all), "window");
  EXPECT_EQ(advised(all, {.background_lost = 0.5}), "pace");
  EXPECT_EQ(advised(all, {.short_flows = 5}), "strict");
  EXPECT_EQ(all[recommend(all, {}).too_costly.value()].label, "strict");
}

TEST(Recommendation, IsTheSimplestOfThoseThatAreAsGood) {
  const std::vector<Remedy> all{kOff, remedy(RemedyKind::kWindow, "window", 0.700, 0),
                                remedy(RemedyKind::kMarking, "slow", 0.709, 0),
                                remedy(RemedyKind::kMarking, "quick", 0.705, 0)};
  EXPECT_EQ(advised(all), "quick");
  const Recommendation r = recommend(all, {});
  EXPECT_THAT(r.as_good, ElementsAre(1, 2));
  EXPECT_EQ(r.certainty, Certainty::kSure);
}

TEST(Recommendation, IsNothingWithoutASureGain) {
  const std::vector<Remedy> little{kOff, remedy(RemedyKind::kMark, "mark", 0.97, 0)};
  EXPECT_EQ(advised(little), "off");
  EXPECT_EQ(recommend(little, {}).certainty, Certainty::kSure);
  EXPECT_EQ(advised(little, {.gain = 0.02}), "mark");

  std::vector<Remedy> wide{kOff, remedy(RemedyKind::kMark, "mark", 0.9, 0)};
  wide[1].change = {-0.1, -0.3, 0.1};
  EXPECT_EQ(advised(wide), "off");
  EXPECT_EQ(recommend(wide, {}).certainty, Certainty::kProbable) << "it may gain 30 %";

  const std::vector<Remedy> costly{kOff, remedy(RemedyKind::kMark, "mark", 0.5, 2)};
  EXPECT_EQ(advised(costly), "off");
}

TEST(Recommendation, TheBestOfAKindIsNotOneThatIsCheapBecauseItIsSlow) {
  const std::vector<Remedy> all{kOff, remedy(RemedyKind::kOrder, "slow", 2.0, -0.5),
                                remedy(RemedyKind::kOrder, "costly", 0.7, 0.9)};
  EXPECT_THAT(best_of_kinds(all, {}), ElementsAre(0, 2));
  const std::vector<Remedy> both{kOff, remedy(RemedyKind::kOrder, "allowed", 0.9, 0.0),
                                 remedy(RemedyKind::kOrder, "costly", 0.7, 0.9)};
  EXPECT_THAT(best_of_kinds(both, {}), ElementsAre(0, 1));
}

TEST(Recommendation, OneSeedIsNeverSure) {
  std::vector<Remedy> all{kOff, remedy(RemedyKind::kWindow, "window", 0.7, 0.05)};
  for (Estimate* one : {&all[1].change, &all[1].lost, &all[1].time_seconds})
    one->low = one->high = std::nan("");
  EXPECT_EQ(advised(all), "window");
  EXPECT_EQ(recommend(all, {}).certainty, Certainty::kProbable);
  all[1].change.value = -0.01;
  EXPECT_EQ(advised(all), "off");
  EXPECT_EQ(recommend(all, {}).certainty, Certainty::kProbable);
}

TEST(Recommendation, FourSeedsAreNotSure) {
  std::vector<Remedy> all{kOff, remedy(RemedyKind::kWindow, "window", 0.7, 0.05)};
  EXPECT_EQ(recommend(all, {}).certainty, Certainty::kSure);
  all[1].seeds = 4;
  EXPECT_EQ(recommend(all, {}).certainty, Certainty::kProbable) << "their intervals are too narrow";
}

TEST(Recommendation, ARemedyThatNeverEndsIsTheSlowest) {
  const std::vector<Remedy> all{kOff, remedy(RemedyKind::kPace, "pace", std::nan(""), 0),
                                remedy(RemedyKind::kWindow, "window", 0.7, 0)};
  EXPECT_EQ(advised(all), "window");
}

TEST(Recommendation, IsProbableIfItsCostMayBreakTheGoal) {
  std::vector<Remedy> all{kOff, remedy(RemedyKind::kWindow, "window", 0.7, 0.05)};
  EXPECT_EQ(recommend(all, {}).certainty, Certainty::kSure);
  all[1].lost.high = 0.2;
  EXPECT_EQ(recommend(all, {}).certainty, Certainty::kProbable);
}

TEST(Recommendation, WhatMattersMostIsVerifiedFirst) {
  const std::vector<Remedy> all{kOff, remedy(RemedyKind::kMark, "mark", 0.9, 0),
                                remedy(RemedyKind::kMark, "mark-4rtt", 0.8, 1),
                                remedy(RemedyKind::kMark, "mark-slow", 0.95, 0),
                                remedy(RemedyKind::kPace, "pace", 0.7, 0)};
  EXPECT_THAT(worth_verifying(all, {}), ElementsAre("off", "pace", "mark", "mark-4rtt"));
  EXPECT_THAT(worth_verifying(all, {.gain = 0.5}), ElementsAre("off", "pace", "mark", "mark-4rtt"))
      << "also if nothing is advised";
  EXPECT_THAT(best_of_kinds(all, {}), ElementsAre(0, 1, 4));
}

TEST(AdviceText, SaysWhatItBringsCostsAndHowSureThatIs) {
  Advice a{.remedies = {kOff, remedy(RemedyKind::kWindow, "on-window", 0.7, 0.05)},
           .verified = true,
           .arm = "[[arm]]\nlabel = \"on-window\"\nswitch.regulation.mode = \"window\"\n",
           .answers = {{.text = "half the load", .label = "off"},
                       {.text = "twice the load", .label = "on-window", .change = {-0.3}}},
           .table = "outrider-lab table DIR --columns iteration_seconds_median"};
  const std::string text = advice_text(a);
  EXPECT_THAT(text, HasSubstr("Use window (on-window): 700"));
  EXPECT_THAT(text, HasSubstr("sure by 12 seeds that the search did not see"));
  EXPECT_THAT(text, HasSubstr("half the load                        other advice: off"));
  EXPECT_THAT(text, HasSubstr("twice the load                       the same, -30 %"));
  EXPECT_THAT(text,
              HasSubstr("\n[[arm]]\nlabel = \"on-window\"\nswitch.regulation.mode = \"window\"\n"));
  EXPECT_THAT(text, HasSubstr("\nmedian, which judges: `outrider-lab table DIR --columns "
                              "iteration_seconds_median` prints it.\n"));
  EXPECT_THAT(text, Not(HasSubstr("default")));
  a.by_default = {"change.hosts = true", "change.switches = \"outrider\""};
  EXPECT_THAT(advice_text(a), HasSubstr("it takes change.hosts = true and change.switches = "
                                        "\"outrider\", the\ndefault"));
  a.warnings = {"off: 12 runs whose background delivered nothing"};
  EXPECT_THAT(advice_text(a), HasSubstr("probable by 12 seeds")) << "its figures are doubtful";
  a.remedies.pop_back();
  EXPECT_THAT(advice_text(a), HasSubstr("Do nothing"));
}

TEST(Recommendation, WhatIsAdvisedIsConfirmedElseTheQuickest) {
  const std::vector<Remedy> window{kOff, remedy(RemedyKind::kPace, "pace", 0.6, 0.3),
                                   remedy(RemedyKind::kWindow, "window", 0.7, 0.05)};
  EXPECT_EQ(worth_confirming(window, {}), 2U);
  EXPECT_EQ(worth_confirming(window, {.background_lost = 0.01}), 1U) << "nothing is advised";
}

TEST(AdviceText, SaysWhetherRealProcessesAgree) {
  const auto text = [](const Estimate& there, const Estimate& here) {
    return advice_text({.remedies = {kOff, remedy(RemedyKind::kWindow, "window", 0.7, 0.05)},
                        .confirmation = Confirmation{.label = "window",
                                                     .slower = 100,
                                                     .smaller_bursts = 0.25,
                                                     .virtual_change = there,
                                                     .loopback_change = here}});
  };
  const Estimate gain{-0.3, -0.32, -0.28}, same{-0.29, -0.33, -0.27}, none{0.02, -0.3, 0.1},
      loss{0.1, 0.05, 0.15};
  EXPECT_THAT(text(gain, same), HasSubstr("Real processes agree: at 1/100 of the rates and 1/4"));
  EXPECT_THAT(text(gain, same), HasSubstr("-29 % [-33, -27]"));
  EXPECT_THAT(text(gain, none), HasSubstr("leave it open"));
  EXPECT_THAT(text(gain, loss), HasSubstr("do not agree"));
}

}  // namespace
}  // namespace outrider::recommendation_test
