// Goal: a search spends seeds where they may still change what it finds, and verifies with others.
// Method: a goal that answers what each test says, and the rounds that are asked for.
#include "tools/lab/search/search_rounds.h"

#include <gtest/gtest.h>

namespace outrider::search_rounds_test {
using namespace lab;
namespace {

constexpr SearchPhase kScreening = SearchPhase::kScreening;
constexpr SearchPhase kVerifying = SearchPhase::kVerifying;

/// Answers by the number of times that it was asked; the last answer stays.
class Answers final : public SearchGoal {
 public:
  std::vector<SearchArms> winning{}, worth{}, wide{};
  mutable std::vector<double> asked_for{};

  [[nodiscard]] SearchArms may_win() const override { return take(winning, winning_at_); }
  [[nodiscard]] SearchArms worth_verifying() const override { return take(worth, worth_at_); }
  [[nodiscard]] SearchArms not_narrow(double narrow_enough) const override {
    asked_for.push_back(narrow_enough);
    return take(wide, wide_at_);
  }

 private:
  static SearchArms take(const std::vector<SearchArms>& all, std::size_t& at) {
    return all.empty() ? SearchArms{} : all[std::min(at++, all.size() - 1)];
  }
  mutable std::size_t winning_at_ = 0, worth_at_ = 0, wide_at_ = 0;
};

std::vector<SearchRound> all_rounds(SearchRounds rounds, const SearchGoal& goal) {
  std::vector<SearchRound> all;
  while (auto round = rounds.next(goal)) all.push_back(*round);
  return all;
}

using Rounds = std::vector<SearchRound>;

TEST(SearchRounds, ScreensOnceAndVerifiesWithSeedsOfItsOwn) {
  Answers goal;
  goal.worth = {{1, 3}};
  EXPECT_EQ(all_rounds({{.screening = 2, .narrowing = 2, .verifying = 20}, 4}, goal),
            (Rounds{{kScreening, 0, 2, {0, 1, 2, 3}}, {kVerifying, 0, 20, {0, 1, 3}}}))
      << "the baseline, number 0, is in every round";
}

TEST(SearchRounds, NarrowsWithTwiceTheSeedsWhatMayWin) {
  Answers goal;
  goal.winning = {{0, 1, 2}, {2}};
  goal.worth = {{2}};
  EXPECT_EQ(all_rounds({{.screening = 3, .narrowing = 12, .verifying = 30}, 4}, goal),
            (Rounds{{kScreening, 0, 3, {0, 1, 2, 3}},
                    {kScreening, 3, 6, {0, 1, 2}},
                    {kScreening, 6, 12, {0, 2}},
                    {kVerifying, 0, 30, {0, 2}}}));
}

TEST(SearchRounds, AnArmThatWasDroppedDoesNotComeBack) {
  Answers goal;
  goal.winning = {{1}};
  goal.worth = {{1, 2}};
  const auto rounds = all_rounds({{.screening = 1, .narrowing = 2, .verifying = 3}, 3}, goal);
  EXPECT_EQ(rounds.back().arms, (SearchArms{0, 1}));
}

TEST(SearchRounds, StopsAnArmWhoseIntervalIsNarrowEnough) {
  Answers goal;
  goal.worth = {{1, 2, 3}};
  goal.wide = {{1, 3}, {3}};
  const SearchSeeds seeds{.screening = 2, .narrowing = 2, .verifying = 30, .narrow_enough = 0.02};
  EXPECT_EQ(all_rounds({seeds, 4}, goal), (Rounds{{kScreening, 0, 2, {0, 1, 2, 3}},
                                                  {kVerifying, 0, 5, {0, 1, 2, 3}},
                                                  {kVerifying, 5, 10, {0, 1, 3}},
                                                  {kVerifying, 10, 20, {0, 3}},
                                                  {kVerifying, 20, 30, {0, 3}}}));
  EXPECT_EQ(goal.asked_for, std::vector<double>(3, 0.02)) << "not after the last round";
}

TEST(SearchRounds, EndsWhenAllIntervalsAreNarrowEnough) {
  Answers goal;
  goal.worth = {{1, 2}};
  const SearchSeeds seeds{.screening = 2, .narrowing = 2, .verifying = 30, .narrow_enough = 0.1};
  EXPECT_EQ(all_rounds({seeds, 3}, goal).back(), (SearchRound{kVerifying, 0, 5, {0, 1, 2}}));
}

TEST(SearchRounds, WithoutAWidthEveryArmGetsAllSeeds) {
  Answers goal;
  goal.worth = {{1}};
  EXPECT_EQ(all_rounds({{.screening = 2, .narrowing = 2, .verifying = 30}, 2}, goal).back(),
            (SearchRound{kVerifying, 0, 30, {0, 1}}));
  EXPECT_TRUE(goal.asked_for.empty());
}

TEST(SearchRounds, TheNumberThatVerifiesMayFollowFromTheScreening) {
  Answers goal;
  goal.worth = {{1}};
  SearchRounds rounds({.screening = 2, .narrowing = 2, .verifying = 30}, 2);
  ASSERT_TRUE(rounds.next(goal));
  rounds.verify_with(7);
  EXPECT_EQ(rounds.next(goal), (SearchRound{kVerifying, 0, 7, {0, 1}}));
  rounds.verify_with(9);
  EXPECT_FALSE(rounds.next(goal)) << "too late";
}

TEST(SearchRounds, FewerSeedsThanTheFirstLookAreOneRound) {
  Answers goal;
  goal.wide = {{1}};
  goal.worth = {{1}};
  const SearchSeeds seeds{.screening = 1, .narrowing = 1, .verifying = 4, .narrow_enough = 0.1};
  EXPECT_EQ(all_rounds({seeds, 2}, goal).back(), (SearchRound{kVerifying, 0, 4, {0, 1}}));
}

TEST(SearchRounds, SeedsDoubleUpToTheLast) {
  using Totals = std::vector<std::uint32_t>;
  EXPECT_EQ(rounds_of(3, 12), (Totals{3, 6, 12}));
  EXPECT_EQ(rounds_of(3, 13), (Totals{3, 6, 12, 13}));
  EXPECT_EQ(rounds_of(4, 4), Totals{4});
  EXPECT_EQ(rounds_of(1, 2), (Totals{1, 2}));
}

}  // namespace
}  // namespace outrider::search_rounds_test
