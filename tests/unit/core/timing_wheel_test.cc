#include "common/core/timing_wheel.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "common/core/random.h"

namespace outrider::timing_wheel_test {
namespace {

using namespace std::chrono_literals;

template <class Wheel>
class TimingWheelTest : public testing::Test {};
using Wheels = testing::Types<TimingWheel<6, 10>, TimingWheel<13, 6>, TimingWheel<1, 6>>;
TYPED_TEST_SUITE(TimingWheelTest, Wheels);

TYPED_TEST(TimingWheelTest, OrdersByInstantThenById) {
  TypeParam wheel;
  for (int i = 0; i < 6; ++i) wheel.add();
  EXPECT_EQ(wheel.next(), kNever);
  wheel.schedule(3, Time{365 * 24h});
  wheel.schedule(5, Time{1ns});
  wheel.schedule(2, Time{1ns});
  wheel.schedule(4, Time{2h});
  wheel.schedule(0, Time{2h} + 1ns);
  wheel.schedule(1, Time{0ns});
  EXPECT_EQ(wheel.next(), Time{0ns});
  for (const std::uint32_t id : {1U, 2U, 5U, 4U, 0U, 3U}) {
    const Time expected = wheel.scheduled(id);
    const auto taken = wheel.take_next(Time{1000 * 24h});
    EXPECT_EQ(taken.id, id);
    EXPECT_EQ(taken.at, expected);
    EXPECT_EQ(wheel.scheduled(id), kNever) << "taken out";
  }
  EXPECT_EQ(wheel.take_next(kNever).id, wheel.kNobody);
}

/// A wheel, and a set that says what it ought to do.
template <class Wheel>
struct Modelled {
  explicit Modelled(std::uint32_t entries) {
    for (std::uint32_t i = 0; i < entries; ++i) EXPECT_EQ(wheel.add(), i);
  }
  void schedule(std::uint32_t id, Time at) {
    model.erase({wheel.scheduled(id), id});
    wheel.schedule(id, at);
    if (at != kNever) model.insert({at, id});
  }
  [[nodiscard]] Time next() const { return model.empty() ? kNever : model.begin()->first; }

  Wheel wheel;
  std::set<std::pair<Time, std::uint32_t>> model;
};

// Distances from nothing to days, so that every level is used and cascades, against
// a std::set. Instants are coarse at times, so that many coincide.
TYPED_TEST(TimingWheelTest, BehavesLikeAnOrderedMap) {
  constexpr std::uint32_t kEntries = 40;
  Modelled<TypeParam> both(kEntries);
  auto& [wheel, model] = both;
  RandomStream random(7, 0, RandomPurpose::kTest);
  Time now{};
  std::uint64_t ties = 0, moved = 0, removed = 0, far = 0, coarse = 0;
  for (int step = 0; step < 200'000; ++step) {
    const std::uint32_t id = random.next_u32() % kEntries;
    const auto reach = random.next_u32() % 48;  // up to 2^47 ns, some 39 hours
    std::uint64_t distance = random.next_u32() % 3 == 0
                                 ? random.next_u32() % 4
                                 : (std::uint64_t{random.next_u32()} << 16) >> (48 - reach);
    const Time at =
        random.next_u32() % 9 == 0 ? kNever : now + Duration{static_cast<std::int64_t>(distance)};
    far += at != kNever && distance > 1'000'000'000'000;
    moved += wheel.scheduled(id) != kNever && at != kNever;
    removed += wheel.scheduled(id) != kNever && at == kNever;
    both.schedule(id, at);
    ASSERT_EQ(wheel.next(), both.next()) << step;
    ASSERT_LE(wheel.next_bound(), wheel.next()) << step;
    coarse += wheel.next_bound() != wheel.next();
    if (random.next_u32() % 2 == 0) continue;
    // The end may lie before, at or after the first one.
    const Time end = model.empty() || random.next_u32() % 4 == 0 ? now + 1us : model.begin()->first;
    const auto taken = wheel.take_next(end);
    if (model.empty() || model.begin()->first > end) {
      ASSERT_EQ(taken.id, wheel.kNobody);
      ASSERT_GT(wheel.next_bound(), end) << step;
      now = std::max(now, end);
      continue;
    }
    ASSERT_EQ(std::make_pair(taken.at, taken.id), *model.begin()) << step;
    model.erase(model.begin());
    ties += !model.empty() && model.begin()->first == taken.at;
    now = taken.at;
  }
  EXPECT_GT(ties, 1'000U);
  EXPECT_GT(moved, 1'000U);
  EXPECT_GT(removed, 1'000U);
  EXPECT_GT(far, 1'000U);
  EXPECT_GT(coarse, 1'000U);
}

// Hundreds act at one instant or two, and move each other meanwhile: what a list would pass
// again and again is in the heap.
TYPED_TEST(TimingWheelTest, KeepsTheOrderOfACrowd) {
  constexpr std::uint32_t kEntries = 500;
  Modelled<TypeParam> both(kEntries);
  auto& [wheel, model] = both;
  RandomStream random(7, 0, RandomPurpose::kTest);
  Time now{1ms};
  for (std::uint32_t i = 0; i < kEntries; ++i) both.schedule(i, now);
  std::uint64_t crowded = 0;
  for (int step = 0; step < 100'000 && !model.empty(); ++step) {
    const auto taken = wheel.take_next(kNever);
    ASSERT_EQ(std::make_pair(taken.at, taken.id), *model.begin()) << step;
    model.erase(model.begin());
    now = taken.at;
    for (const std::uint32_t id : {taken.id, random.next_u32() % kEntries})
      both.schedule(id,
                    random.next_u32() % 50 == 0 ? kNever : now + Duration{random.next_u32() % 3});
    ASSERT_EQ(wheel.next(), both.next()) << step;
    ASSERT_EQ(
        wheel.first_due() == wheel.kNobody ? wheel.next() : wheel.scheduled(wheel.first_due()),
        wheel.next());
    crowded += model.size() > kEntries / 2;
  }
  EXPECT_GT(crowded, 10'000U);
}

TYPED_TEST(TimingWheelTest, SaysWhatComesSoonAlsoIfSomeAreMovedAway) {
  TypeParam wheel;
  for (int i = 0; i < 9; ++i) wheel.add();
  for (std::uint32_t id = 0; id < 9; ++id) wheel.schedule(id, Time{1ms});
  EXPECT_EQ(wheel.take_next(kNever).id, 0U);
  EXPECT_EQ(wheel.soon(0), 1U);
  EXPECT_EQ(wheel.soon(7), 8U);
  EXPECT_EQ(wheel.soon(8), wheel.kNobody);
  wheel.schedule(2, kNever);
  wheel.schedule(3, Time{1h});
  wheel.schedule(0, Time{1ms});  // late: takes its turn, no hint
  EXPECT_EQ(wheel.take_next(kNever).id, 0U);
  EXPECT_EQ(wheel.soon(0), 1U);
  EXPECT_EQ(wheel.take_next(kNever).id, 1U);
  EXPECT_EQ(wheel.soon(0), 4U) << "2 and 3 are gone";
}

}  // namespace
}  // namespace outrider::timing_wheel_test
