// Goal: the thresholds of several jobs on one queue compose by the documented formulas.
// Method: literal values computed by hand; random wishes and the documented bounds; and a
// regulator whose jobs come and go.
#include "common/regulation/regulator_composition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/core/random.h"
#include "common/regulation/regulator.h"

namespace outrider::regulator_composition_test {
namespace {

using namespace std::chrono_literals;
using Wishes = std::vector<JobWish>;

TEST(Composition, LiteralValues) {
  struct Row {
    Wishes wishes;
    std::uint16_t min, harmonic, demand;
    const char* why;
  };
  const Row kRows[] = {
      {{{10, 0}}, 10, 10, 10, "one job: its own"},
      {{{10, 0}, {10, 0}}, 10, 5, 10, "1 / (1/10 + 1/10)"},
      {{{10, 0}, {30, 0}}, 10, 8, 15, "1 / (4/30) = 7.5; 2 / (4/30) = 15"},
      {{{10, 300}, {30, 100}}, 10, 8, 12, "400 / (30 + 10/3) = 12"},
      {{{10, 100}, {30, 300}}, 10, 8, 20, "400 / (10 + 10) = 20"},
      {{{10, 1}, {30, 1'000'000'000'000}}, 10, 8, 30, "the small burst hardly counts"},
      {{{10, 200}, {30, 0}}, 10, 8, 15, "unknown: as long as the known one"},
      {{{10, 100}, {20, 300}, {40, 0}},
       10,
       6,
       20,
       "1 / (7/40) = 5.7; 600 / (10 + 15 + 5) = 20: unknown is the mean, 200"},
      {{{1, 0}, {1, 0}, {1, 0}}, 1, 1, 1, "never below 1"},
      {{{65535, 7}, {65535, 7}}, 65535, 32768, 65535, "the ends of the range"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(compose(Composition::kMin, row.wishes), row.min) << row.why;
    EXPECT_EQ(compose(Composition::kHarmonic, row.wishes), row.harmonic) << row.why;
    EXPECT_EQ(compose(Composition::kDemand, row.wishes), row.demand) << row.why;
  }
}

Wishes random_wishes(RandomStream& random) {
  Wishes wishes(1 + random.next_u32() % 12);
  for (auto& w : wishes) {
    w.threshold_packets = static_cast<std::uint16_t>(1 + random.next_u32() % 300);
    w.bytes = random.next_u32() % 3 == 0 ? 0 : random.next_u32();
  }
  return wishes;
}

TEST(Composition, StaysWithinItsBoundsAndForgetsTheOrder) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int i = 0; i < 20'000; ++i) {
    Wishes wishes = random_wishes(random);
    const auto [least, most] = std::ranges::minmax(wishes, {}, &JobWish::threshold_packets);
    const std::uint16_t low = least.threshold_packets;
    const auto demand = compose(Composition::kDemand, wishes);
    const auto harmonic = compose(Composition::kHarmonic, wishes);
    ASSERT_EQ(compose(Composition::kMin, wishes), low);
    ASSERT_GE(demand, low);
    ASSERT_LE(demand, most.threshold_packets);
    ASSERT_LE(harmonic, low);
    ASSERT_GE(harmonic, std::max<std::size_t>(1, low / wishes.size()));
    std::ranges::reverse(wishes);
    ASSERT_EQ(compose(Composition::kDemand, wishes), demand);
    ASSERT_EQ(compose(Composition::kHarmonic, wishes), harmonic);
    // An additional job never raises the results of harmonic and min.
    wishes.push_back({static_cast<std::uint16_t>(1 + random.next_u32() % 300), 0});
    ASSERT_LE(compose(Composition::kHarmonic, wishes), harmonic);
    ASSERT_LE(compose(Composition::kMin, wishes), low);
  }
}

TEST(JobWishes, EntriesOfAJobAreOne) {
  JobWishes wishes(8);
  const FlowKey a{0, 1, 0, 5000}, b{0, 1, 0, 5001};
  wishes.add(a, 20, 100);
  wishes.add(a, 10, 200);
  wishes.add(b, 30, 100);
  EXPECT_EQ(wishes.take(Composition::kDemand), 12) << "10 of 300 bytes, 30 of 100";
  wishes.add(b, 30, 100);
  EXPECT_EQ(wishes.take(Composition::kDemand), 30) << "nothing was left of the first";
  wishes.add(a, 10, 100);
  wishes.add(a, 10, std::nullopt);
  wishes.add(b, 30, 500);
  EXPECT_EQ(wishes.take(Composition::kDemand), 15) << "one did not say: as the other job";
}

// An announcement of 2^60 bytes with h = 65535 does not decide for everybody else.
TEST(Composition, WhatAnnouncesTooMuchIsBounded) {
  Regulator r({.mode = RegulationMode::kMark,
               .budget_share = 1,
               .max_threshold_packets = 300,
               .max_burst_bytes = 1'000'000,
               .composition = Composition::kDemand});
  r.on_start({{1, 10, 40'000, 5000}, 1, 10, 1'000'000}, Time{1ms});
  r.on_start({{2, 11, 40'001, 5000}, 1, 65535, std::uint64_t{1} << 60}, Time{1ms});
  EXPECT_EQ(r.threshold(Time{1ms}), 19) << "2 MB / (1 MB / 10 + 1 MB / 300)";
  JobWishes wishes(40);
  for (int i = 0; i < 40; ++i) wishes.add({0, 1, 0, 5000}, 300, ~std::uint64_t{0});
  wishes.add({0, 2, 0, 5000}, 10, std::uint64_t{1} << 40);
  EXPECT_EQ(wishes.take(Composition::kDemand), 176) << "41 / (40 / 300 + 1 / 10): no overflow";
}

// A known fault of such compositions is that they never rise again when a job leaves.
TEST(Composition, IsMadeAnewWheneverAnEntryComesOrGoes) {
  constexpr FlowKey kFirst{1, 10, 40'000, 5000}, kSecond{2, 11, 40'001, 5000},
      kMate{3, 10, 40'002, 5000};
  for (const auto& [composition, two] : {std::pair{Composition::kMin, 10},
                                         {Composition::kHarmonic, 8},
                                         {Composition::kDemand, 20}}) {
    Regulator r({.mode = RegulationMode::kMark, .budget_share = 1, .composition = composition});
    r.on_start({kFirst, 1, 10, 100}, Time{1ms});
    EXPECT_EQ(r.threshold(Time{1ms}), 10);
    r.on_start({kMate, 1, 40, 100}, Time{1ms});
    EXPECT_EQ(r.threshold(Time{1ms}), 10) << "of the same job";
    r.on_payload(kMate, 1, 100, false, Time{2ms});
    r.on_start({kSecond, 1, 30, 300}, Time{3ms});
    EXPECT_EQ(r.threshold(Time{3ms}), two);
    r.on_payload(kFirst, 1, 100, false, Time{4ms});
    EXPECT_EQ(r.threshold(Time{4ms}), 30) << "the strictest has left";
    EXPECT_EQ(r.threshold(Time{200ms}), std::nullopt) << "expired";
  }
}

}  // namespace
}  // namespace outrider::regulator_composition_test
