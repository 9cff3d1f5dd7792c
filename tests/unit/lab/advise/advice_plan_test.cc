// Goal: a user waits no longer than wanted where that is possible, and every round keeps its least
// size where it is not. Method: literal sizes and times.
#include "tools/lab/advise/advice_plan.h"

#include <gtest/gtest.h>

namespace outrider::advice_plan_test {
using namespace lab;
namespace {

TEST(AdvicePlan, AQuickClusterGetsManySeeds) {
  EXPECT_EQ(screen_size(20, 0.1, 600), (RoundSize{.arms = 20, .seeds = 2}));
  EXPECT_EQ(verify_size(8, 0.1, 590), (RoundSize{.arms = 8, .seeds = 20}));
  EXPECT_EQ(what_if_size(3, 7, 0.1, 550), (RoundSize{.arms = 3, .seeds = 4}));
}

TEST(AdvicePlan, ASlowOneGetsFewerThenBriefer) {
  EXPECT_EQ(screen_size(20, 8, 600), (RoundSize{.arms = 20, .seeds = 1}));
  EXPECT_EQ(screen_size(20, 15, 600), (RoundSize{.arms = 20, .seeds = 1, .brief = true}));
  EXPECT_EQ(verify_size(8, 15, 400), (RoundSize{.arms = 4, .seeds = 4}));
  EXPECT_EQ(what_if_size(3, 7, 15, 160), (RoundSize{.arms = 2, .seeds = 1, .brief = true}));
}

TEST(AdvicePlan, KeepsTheTimeThatIsWanted) {
  for (const double case_seconds : {0.02, 0.3, 2.0, 9.0}) {
    double left = 600;
    left -= seconds_of(screen_size(20, case_seconds, left), case_seconds);
    left -= seconds_of(verify_size(8, case_seconds, left), case_seconds);
    left -= 7 * seconds_of(what_if_size(3, 7, case_seconds, left), case_seconds);
    EXPECT_GE(left, 0) << case_seconds;
  }
}

// The least that verifies is three arms with four seeds; a search runs each arm once or, in brief,
// for two thirds of that.
TEST(AdvicePlan, WhatTakesTooLongIsScaledDownOrNotBegun) {
  struct Row {
    double case_seconds, minutes;
    Tried tried;
  };
  constexpr Row kRows[] = {
      {1, 1, Tried::kAll},             // 23 x 2/3 + 12 = 28 s
      {3, 1, Tried::kOneOfEachKind},   // 82 s, and 54 s with one of each kind
      {5, 1, Tried::kOneOfEachKind},   // 90 s: 1.5 times what is wanted
      {6, 1, Tried::kNothing},         // 108 s
      {1, 0.1, Tried::kNothing},       // 18 s: also if it is short
      {20, 5, Tried::kOneOfEachKind},  // 547 s, and 360 s: 1.2 times what is wanted
      {30, 5, Tried::kNothing},        // 540 s: 1.8 times
      {30, 15, Tried::kAll},           // 820 s of 900
  };
  for (const Row& row : kRows)
    EXPECT_EQ(scale_down(23, 9, row.case_seconds, row.minutes * 60, row.minutes * 60), row.tried)
        << row.case_seconds << " s a case, " << row.minutes << " min";
}

TEST(AdvicePlan, NothingIsAskedOfNobody) {
  EXPECT_EQ(verify_size(9, 100, -5), (RoundSize{.arms = 3, .seeds = 4})) << "the least";
  EXPECT_EQ(verify_size(2, 100, 10), (RoundSize{.arms = 2, .seeds = 4})) << "there are no more";
  EXPECT_EQ(what_if_size(3, 7, 100, -5), (RoundSize{.arms = 2, .seeds = 1, .brief = true}));
  EXPECT_EQ(verify_size(8, 0, 400).seeds, 20U) << "a time that is not known";
}

TEST(AdvicePlan, BurstsAreMadeSmallerUntilTheyFit) {
  // Ten arms: 10 x 2/3 and 8 x 4 cases, 38.7 in all; 0.8 x 600 s have room for cases of 12.4 s.
  EXPECT_EQ(smaller_to_fit(10, 16, 0.5, 600), 1U) << "whole ones take 8 s";
  EXPECT_EQ(smaller_to_fit(10, 16, 1, 600), 2U) << "whole ones take 16 s";
  EXPECT_EQ(smaller_to_fit(10, 16, 5, 600), 8U);
  EXPECT_EQ(smaller_to_fit(10, 16, 100, 600), 16U) << "no smaller than they may be";
  EXPECT_EQ(smaller_to_fit(10, 1, 100, 600), 1U);
  EXPECT_EQ(seconds_when(4, 16, 1.5), 6);
}

}  // namespace
}  // namespace outrider::advice_plan_test
