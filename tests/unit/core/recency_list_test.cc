// Goal: the least recently used slot is found, whatever the order of uses. Method: a literal
// sequence; then random operations beside a std::list.
#include "common/core/recency_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "common/core/random.h"

namespace outrider::recency_list_test {
namespace {

TEST(RecencyList, OrdersByLastUse) {
  RecencyList list(3);
  EXPECT_EQ(list.oldest(), RecencyList::kNone);
  for (const std::uint32_t slot : {2U, 0U, 1U}) list.add(slot);
  EXPECT_EQ(list.oldest(), 2U);
  list.touch(2);
  EXPECT_EQ(list.oldest(), 0U);
  list.remove(0);
  EXPECT_FALSE(list.contains(0));
  EXPECT_EQ(list.oldest(), 1U);
  list.remove(1);
  list.remove(2);
  EXPECT_EQ(list.oldest(), RecencyList::kNone);
}

TEST(RecencyList, EqualsAStdList) {
  constexpr std::uint32_t kSlots = 9;
  RecencyList list(kSlots);
  std::list<std::uint32_t> model;
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t slot = random.next_u32() % kSlots;
    const bool listed = std::ranges::find(model, slot) != model.end();
    ASSERT_EQ(list.contains(slot), listed);
    if (listed) {
      model.remove(slot);
      if (random.next_u32() % 2 == 0) {
        list.remove(slot);
      } else {
        list.touch(slot);
        model.push_back(slot);
      }
    } else {
      list.add(slot);
      model.push_back(slot);
    }
    ASSERT_EQ(list.oldest(), model.empty() ? RecencyList::kNone : model.front());
  }
}

}  // namespace
}  // namespace outrider::recency_list_test
