// Goal: a counter is new once, in any order within the reach, and never below the floor.
// Method: by hand, and against a set of all counters seen.
#include "common/core/replay_window.h"

#include <gtest/gtest.h>

#include <set>

#include "common/core/random.h"

namespace outrider::replay_window_test {
namespace {

TEST(ReplayWindow, TakesEachCounterOnce) {
  ReplayWindow window;
  EXPECT_TRUE(window.take(5));
  EXPECT_FALSE(window.take(5));
  EXPECT_TRUE(window.take(1'000'000'000'000));
  EXPECT_TRUE(window.take(6)) << "overtaken by one message, however far ahead that is";
  EXPECT_FALSE(window.take(6));
  EXPECT_FALSE(window.take(5));
  EXPECT_TRUE(window.take(4));
  EXPECT_EQ(window.greatest(), 1'000'000'000'000U);
}

TEST(ReplayWindow, NothingUpToTheFloorIsNew) {
  ReplayWindow window(100);
  EXPECT_FALSE(window.take(0));
  EXPECT_FALSE(window.take(100));
  EXPECT_TRUE(window.take(101));
  EXPECT_FALSE(window.take(100));
  EXPECT_FALSE(ReplayWindow().take(0)) << "no sender's clock stands at 0";
}

TEST(ReplayWindow, WhatFellOutOfItIsNotNewAgain) {
  ReplayWindow window;
  for (std::uint64_t i = 1; i <= ReplayWindow::kMessages; ++i) EXPECT_TRUE(window.take(10 * i));
  EXPECT_TRUE(window.take(15)) << "10 is the least that is remembered";
  EXPECT_FALSE(window.take(10));
  EXPECT_FALSE(window.take(12));
  EXPECT_TRUE(window.take(~std::uint64_t{0}));
  EXPECT_FALSE(window.take(~std::uint64_t{0}));
}

// Messages that overtake each other by less than the window are all taken, and none twice.
TEST(ReplayWindow, AgreesWithASetOfAllThatWasSeen) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  ReplayWindow window;
  std::set<std::uint64_t> seen;
  std::uint64_t base = 1000;
  for (int i = 0; i < 100'000; ++i) {
    base += random.next_u32() % 3;
    const std::uint64_t counter = base - random.next_u32() % (ReplayWindow::kMessages / 2);
    EXPECT_EQ(window.take(counter), seen.insert(counter).second) << counter;
  }
}

}  // namespace
}  // namespace outrider::replay_window_test
