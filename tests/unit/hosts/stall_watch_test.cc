// Goal: a run that gets no answer is told from one that pauses. Method: literal timelines of
// counts, a note every 100 ms.
#include "trafficgen/apps/stall_watch.h"

#include <gtest/gtest.h>

namespace outrider::stall_watch_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

TEST(StallWatch, RepeatedPacketsWithoutAnAnswerAreAStall) {
  StallWatch watch(10s);
  watch.note(0, 0, Time{0s});
  watch.note(5, 0, Time{1s});
  watch.note(6, 0, Time{2s});
  watch.note(6, 0, Time{3s});
  watch.note(8, 0, Time{5s});
  watch.note(8, 0, Time{10900ms});
  EXPECT_FALSE(watch.stalled()) << "10 s have not passed since the first was sent";
  watch.note(8, 0, Time{11s});
  EXPECT_TRUE(watch.stalled());
  EXPECT_EQ(watch.unanswered(), 8U);
}

TEST(StallWatch, APacketThatComesBeginsAnew) {
  StallWatch watch(10s);
  for (int s = 1; s <= 9; ++s) watch.note(static_cast<std::uint64_t>(s), 0, Time{s * 1s});
  watch.note(10, 1, Time{10s});
  watch.note(11, 1, Time{11s});
  watch.note(12, 1, Time{12s});
  watch.note(13, 1, Time{20900ms});
  EXPECT_FALSE(watch.stalled());
  watch.note(13, 1, Time{21s});
  EXPECT_TRUE(watch.stalled());
  EXPECT_EQ(watch.unanswered(), 3U);
}

TEST(StallWatch, ALastPacketWithoutAnAnswerIsNone) {
  StallWatch watch(10s);
  watch.note(100, 99, Time{1s});
  watch.note(101, 99, Time{2s});  // an ACK that was lost
  watch.note(101, 99, Time{1h});
  EXPECT_FALSE(watch.stalled()) << "a long computation";
}

TEST(StallWatch, WithoutALimitNothingStalls) {
  StallWatch watch(std::nullopt);
  for (int s = 1; s < 100; ++s) watch.note(static_cast<std::uint64_t>(s), 0, Time{s * 1s});
  EXPECT_FALSE(watch.stalled());
}

}  // namespace
}  // namespace outrider::stall_watch_test
