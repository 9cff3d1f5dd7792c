// Goal: the numbers of a sender follow its clock and always grow. Method: a literal clock.
#include "common/core/send_counter.h"

#include <gtest/gtest.h>

namespace outrider::send_counter_test {
namespace {

TEST(SendCounter, FollowsTheClockAndAlwaysGrows) {
  struct Row {
    std::uint64_t clock_ns;
    std::uint64_t number;
    const char* why;
  };
  SendCounter counter;
  EXPECT_EQ(counter.last(), 0U);
  for (const Row& row : {Row{0, 1, "no number is 0, which a new window has seen"},
                         {500, 500, "the clock"},
                         {500, 501, "the clock stands"},
                         {100, 502, "the clock was set back"},
                         {503, 503, "the clock has caught up"}}) {
    EXPECT_EQ(counter.next(row.clock_ns), row.number) << row.why;
    EXPECT_EQ(counter.last(), row.number);
  }
}

}  // namespace
}  // namespace outrider::send_counter_test
