// Goal: the thresholds of several jobs on one queue compose by the documented formulas.
// Method: literal values computed by hand; random wishes and the documented bounds; random
// entries that come and go, against the formulas over a list; and a regulator whose jobs come
// and go.
#include "switch/regulation/regulator/regulator_composition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "common/core/random.h"
#include "switch/regulation/regulator/regulator.h"
#include "tests/unit/regulation/composition_oracle.h"

namespace outrider::regulator_composition_test {
namespace {

using namespace std::chrono_literals;
using Wishes = std::vector<JobWish>;

/// Returns what one entry of each job comes to.
std::uint16_t compose(Composition composition, const Wishes& wishes) {
  JobWishes jobs(composition, static_cast<std::uint32_t>(wishes.size()));
  for (std::uint32_t i = 0; i < wishes.size(); ++i)
    jobs.add(i, {0, i, 0, 5000}, wishes[i].threshold_packets,
             wishes[i].bytes == 0 ? std::nullopt : std::optional(wishes[i].bytes));
  return jobs.composed();
}

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
  JobWishes wishes(Composition::kDemand, 8);
  const FlowKey a{0, 1, 0, 5000}, b{0, 1, 0, 5001};
  wishes.add(0, a, 20, 100);
  wishes.add(1, a, 10, 200);
  wishes.add(2, b, 30, 100);
  EXPECT_EQ(wishes.composed(), 12) << "10 of 300 bytes, 30 of 100";
  wishes.remove(0);
  wishes.remove(1);
  EXPECT_EQ(wishes.composed(), 30) << "nothing was left of the first";
  wishes.remove(2);
  EXPECT_TRUE(wishes.empty());
  wishes.add(1, a, 10, 100);
  wishes.add(0, a, 10, std::nullopt);
  wishes.add(2, b, 30, 500);
  EXPECT_EQ(wishes.composed(), 15) << "one did not say: as the other job";
  wishes.remove(0);
  EXPECT_EQ(wishes.composed(), 23) << "600 / (100 / 10 + 500 / 30) = 22.5";
}

/// The entries of a JobWishes, and what they come to by the formulas.
class ListOfEntries {
 public:
  struct Entry {
    std::uint32_t slot = 0, job = 0;
    std::uint16_t threshold = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Entry> entries;

  [[nodiscard]] Wishes wishes() const {
    std::map<std::uint32_t, JobWish> jobs;
    std::set<std::uint32_t> silent;
    for (const Entry& e : entries) {
      JobWish& job = jobs.try_emplace(e.job, JobWish{e.threshold, 0}).first->second;
      job.threshold_packets = std::min(job.threshold_packets, e.threshold);
      job.bytes += std::min(e.bytes, JobWishes::kMostBytes);
      if (e.bytes == 0) silent.insert(e.job);
    }
    Wishes all;
    for (auto& [key, job] : jobs)
      all.push_back({job.threshold_packets, silent.contains(key) ? 0 : job.bytes});
    return all;
  }
};

// Sums that are added to and taken from for long must not drift from the formulas. The ends of
// the range of thresholds and bytes are drawn as well.
TEST(JobWishes, EqualsTheFormulasHoweverManyComeAndGo) {
  constexpr std::uint32_t kSlots = 40;
  std::uint64_t compared = 0, halves = 0;
  for (const auto composition : {Composition::kMin, Composition::kHarmonic, Composition::kDemand}) {
    RandomStream random(7, 0, RandomPurpose::kTest);
    JobWishes wishes(composition, kSlots);
    ListOfEntries list;
    std::vector<std::uint32_t> free;
    for (std::uint32_t i = 0; i < kSlots; ++i) free.push_back(i);
    for (int i = 0; i < 60'000; ++i) {
      const std::uint32_t wide = random.next_u32() % 8;
      if (!free.empty() && (list.entries.empty() || random.next_u32() % 2 == 0)) {
        const auto threshold =
            static_cast<std::uint16_t>(1 + random.next_u32() % (wide == 0 ? 65535 : 60));
        std::uint64_t bytes = random.next_u32() % 3 == 0 ? 0 : 1 + random.next_u32() % 1000;
        if (wide == 1 && bytes != 0) bytes <<= random.next_u32() % 54;
        const ListOfEntries::Entry e{free.back(), random.next_u32() % 9, threshold, bytes};
        free.pop_back();
        list.entries.push_back(e);
        wishes.add(e.slot, {0, e.job, 0, 5000}, threshold,
                   bytes == 0 ? std::nullopt : std::optional(bytes));
      } else {
        const std::size_t at = random.next_u32() % list.entries.size();
        wishes.remove(list.entries[at].slot);
        free.push_back(list.entries[at].slot);
        list.entries.erase(list.entries.begin() + static_cast<std::ptrdiff_t>(at));
      }
      ASSERT_EQ(wishes.empty(), list.entries.empty());
      if (list.entries.empty()) continue;
      const Wishes all = list.wishes();
      ASSERT_EQ(wishes.composed(), composed_of(composition, all)) << "step " << i;
      const double exact = composed_exactly(composition, all);
      halves += std::abs(exact - std::floor(exact) - 0.5) < 1e-9;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100'000U);
  EXPECT_GT(halves, 20U) << "results half-way between two packets";
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
  JobWishes wishes(Composition::kDemand, 41);
  for (std::uint32_t i = 0; i < 40; ++i) wishes.add(i, {0, 1, 0, 5000}, 300, ~std::uint64_t{0});
  wishes.add(40, {0, 2, 0, 5000}, 10, std::uint64_t{1} << 40);
  EXPECT_EQ(wishes.composed(), 176) << "41 / (40 / 300 + 1 / 10): no overflow";
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
