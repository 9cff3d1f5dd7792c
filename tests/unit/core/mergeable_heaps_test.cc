// Goal: every group tells its least key, whatever comes and goes, and no operation visits more
// nodes than a logarithm of the group. Method: random operations against ordered sets, and orders
// of keys that make the deepest trees.
#include "switch/regulation/regulator/mergeable_heaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <vector>

#include "common/core/random.h"

namespace outrider::mergeable_heaps_test {
namespace {

using Heaps = MergeableHeaps<std::uint16_t>;

TEST(MergeableHeaps, EqualOrderedSets) {
  constexpr std::uint32_t kSlots = 60, kGroups = 4;
  for (const std::uint32_t keys : {3U, 60'000U}) {
    RandomStream random(keys, 0, RandomPurpose::kTest);
    Heaps heaps(kSlots);
    std::array<Heaps::Heap, kGroups> groups{};
    std::array<std::multiset<std::uint16_t>, kGroups> sorted;
    std::array<std::uint32_t, kSlots> group_of{};
    std::array<std::uint16_t, kSlots> key_of{};
    std::array<bool, kSlots> present{};
    for (int i = 0; i < 50'000; ++i) {
      const std::uint32_t slot = random.next_u32() % kSlots;
      if (present[slot]) {
        const std::uint32_t group = group_of[slot];
        heaps.remove(groups[group], slot);
        sorted[group].erase(sorted[group].find(key_of[slot]));
      } else {
        group_of[slot] = random.next_u32() % kGroups;
        key_of[slot] = static_cast<std::uint16_t>(random.next_u32() % keys);
        heaps.add(groups[group_of[slot]], slot, key_of[slot]);
        sorted[group_of[slot]].insert(key_of[slot]);
      }
      present[slot] = !present[slot];
      for (std::uint32_t g = 0; g < kGroups; ++g) {
        ASSERT_EQ(groups[g].empty(), sorted[g].empty());
        if (sorted[g].empty()) continue;
        ASSERT_EQ(heaps.least(groups[g]), *sorted[g].begin());
      }
    }
  }
}

TEST(MergeableHeaps, CostALogarithmOfTheirSlots) {
  constexpr std::uint32_t kSlots = 1U << 14;
  for (const char* order : {"rising", "falling", "equal", "random"}) {
    RandomStream random(1, 0, RandomPurpose::kTest);
    Heaps heaps(kSlots);
    Heaps::Heap group;
    const auto key_of = [&](std::uint32_t slot) {
      if (order[0] == 'r' && order[1] == 'i') return slot;
      if (order[0] == 'f') return kSlots - slot;
      return order[0] == 'e' ? 7 : random.next_u32() % 65536;
    };
    std::uint64_t most = 0, before = 0;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      heaps.add(group, slot, static_cast<std::uint16_t>(key_of(slot)));
      most = std::max(most, heaps.steps() - before);
      before = heaps.steps();
    }
    std::vector<std::uint32_t> slots(kSlots);
    std::iota(slots.begin(), slots.end(), 0);
    for (std::uint32_t i = kSlots; i-- > 1;)
      std::swap(slots[i], slots[random.next_u32() % (i + 1)]);
    for (const std::uint32_t slot : slots) {
      heaps.remove(group, slot);
      most = std::max(most, heaps.steps() - before);
      before = heaps.steps();
    }
    EXPECT_TRUE(group.empty());
    EXPECT_LE(most, 5U * 15) << order;
  }
}

}  // namespace
}  // namespace outrider::mergeable_heaps_test
