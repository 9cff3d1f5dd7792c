// Goal: the first slot is the one with the first key, whatever was pushed, changed and removed,
// and no operation moves more levels than the heap has. Method: random operations against an
// ordered set.
#include "common/core/indexed_heap.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <utility>

#include "common/core/random.h"

namespace outrider::indexed_heap_test {
namespace {

template <class Before>
void compare_with_a_set(std::uint32_t slots, std::uint32_t keys) {
  RandomStream random(slots + keys, 0, RandomPurpose::kTest);
  IndexedHeap<std::uint32_t, Before> heap(slots);
  std::multiset<std::uint32_t, Before> sorted;
  std::uint64_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t slot = random.next_u32() % slots, key = random.next_u32() % keys;
    const std::uint64_t before = heap.steps();
    if (!heap.contains(slot)) {
      heap.push(slot, key);
    } else {
      sorted.erase(sorted.find(heap.key_of(slot)));
      if (key % 3 == 0) heap.remove(slot);
      else heap.change(slot, key);
    }
    if (heap.contains(slot)) sorted.insert(key);
    most = std::max(most, heap.steps() - before);
    ASSERT_EQ(heap.empty(), sorted.empty());
    if (sorted.empty()) continue;
    ASSERT_EQ(heap.top_key(), *sorted.begin());
    ASSERT_EQ(heap.key_of(heap.top()), heap.top_key());
  }
  EXPECT_GT(most, slots > 100 ? 3U : 0U);
  EXPECT_LE(most, static_cast<std::uint64_t>(std::bit_width(slots)) + 1);
}

TEST(IndexedHeap, EqualsAnOrderedSet) {
  for (const std::uint32_t slots : {1U, 2U, 7U, 300U}) {
    compare_with_a_set<std::less<>>(slots, 1000);
    compare_with_a_set<std::greater<>>(slots, 1000);
    compare_with_a_set<std::less<>>(slots, 4);
  }
}

// The worst order of keys costs a level each time, never more than there are.
TEST(IndexedHeap, CostsALogarithmOfItsSlots) {
  constexpr std::uint32_t kSlots = 1U << 14;
  IndexedHeap<std::uint32_t> heap(kSlots);
  const auto cost = [&heap](auto&& operation) {
    const std::uint64_t before = heap.steps();
    operation();
    return heap.steps() - before;
  };
  for (std::uint32_t i = 0; i < kSlots; ++i)
    ASSERT_LE(cost([&] { heap.push(i, kSlots - i); }), 15U);
  for (std::uint32_t i = 0; i < kSlots; ++i) ASSERT_LE(cost([&] { heap.remove(heap.top()); }), 15U);
  EXPECT_TRUE(heap.empty());
}

}  // namespace
}  // namespace outrider::indexed_heap_test
