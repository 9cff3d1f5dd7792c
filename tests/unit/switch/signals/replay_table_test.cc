// Goal: no message is new twice, whatever happens to the memory of its source, and nobody who only
// repeats messages keeps others out.
#include "switch/signals/replay_table.h"

#include <gtest/gtest.h>

namespace outrider::replay_table_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using V = ReplayTable::Verdict;

TEST(ReplayTable, EachSourceHasItsOwnWindow) {
  ReplayTable table(100);
  EXPECT_EQ(table.take(1, 100, Time{}), V::kReplayed) << "from before the switch started";
  EXPECT_EQ(table.take(1, 101, Time{}), V::kNew);
  EXPECT_EQ(table.take(1, 101, Time{}), V::kReplayed);
  EXPECT_EQ(table.take(2, 101, Time{}), V::kNew);
  EXPECT_EQ(table.take(1, 103, Time{}), V::kNew);
  EXPECT_EQ(table.take(1, 102, Time{}), V::kNew) << "overtaken on the way";
}

ReplayTable full(Time at) {
  ReplayTable table(0);
  for (std::uint32_t s = 0; s < ReplayTable::kSources; ++s)
    EXPECT_EQ(table.take(s, 2000 - s, at), V::kNew);
  return table;
}

TEST(ReplayTable, ANewcomerTakesThePlaceOfASilentSource) {
  ReplayTable table = full(Time{});
  EXPECT_EQ(table.take(5000, 9000, Time{9999ms}), V::kNoRoom) << "all are active";
  EXPECT_EQ(table.take(0, 3000, Time{5s}), V::kNew);
  EXPECT_EQ(table.take(5000, 1999, Time{10s}), V::kReplayed) << "not above what source 1 sent";
  EXPECT_EQ(table.take(5000, 9000, Time{10s}), V::kNew) << "in the place of source 1";
  EXPECT_EQ(table.take(1, 1999, Time{30s}), V::kReplayed) << "forgotten, but not believed again";
  EXPECT_EQ(table.take(2, 1998, Time{30s}), V::kReplayed) << "still remembered";
  EXPECT_EQ(table.take(1, 9001, Time{30s}), V::kNew);
}

TEST(ReplayTable, RepeatedMessagesKeepNoSourceActive) {
  ReplayTable table = full(Time{});
  for (std::uint32_t s = 0; s < ReplayTable::kSources; ++s)
    EXPECT_EQ(table.take(s, 2000 - s, Time{9s}), V::kReplayed);
  EXPECT_EQ(table.take(5000, 9000, Time{10s}), V::kNew);
}

}  // namespace
}  // namespace outrider::replay_table_test
