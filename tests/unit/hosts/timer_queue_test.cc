#include "trafficgen/hosts/timer_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "common/core/random.h"

namespace outrider::timer_queue_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

TEST(TimerQueue, EqualDeadlinesKeepTheOrderOfAdding) {
  TimerQueue timers(4);
  EXPECT_EQ(timers.next(), kNever);
  for (std::uint32_t tag = 0; tag < 20; ++tag) timers.add({.at = Time{5ns}, .tag = tag});
  timers.add({.at = Time{4ns}, .tag = 99});
  EXPECT_EQ(timers.pop().tag, 99U);
  for (std::uint32_t tag = 0; tag < 20; ++tag) EXPECT_EQ(timers.pop().tag, tag);
  EXPECT_EQ(timers.next(), kNever);
}

TEST(TimerQueue, BehavesLikeAnOrderedMultimap) {
  TimerQueue timers(8);
  std::multimap<Time, std::uint32_t> model;  // equal keys keep the order of insertion
  RandomStream random(1, 0, RandomPurpose::kTest);
  std::uint64_t ties = 0;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    if (random.next_u32() % 8 < (step / 500 % 2 == 0 ? 5U : 3U)) {
      const Time at{Duration{random.next_u32() % 50}};
      ties += model.contains(at);
      timers.add({.at = at, .tag = step});
      model.emplace(at, step);
    } else if (!model.empty()) {
      const auto timer = timers.pop();
      ASSERT_EQ(timer.at, model.begin()->first);
      ASSERT_EQ(timer.tag, model.begin()->second) << "step " << step;
      model.erase(model.begin());
    }
    ASSERT_EQ(timers.next(), model.empty() ? kNever : model.begin()->first);
  }
  EXPECT_GT(ties, 1'000U);
}

}  // namespace
}  // namespace outrider::timer_queue_test
