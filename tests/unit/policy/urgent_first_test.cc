// Goal: P3 and the credit scheduler against schedules worked out by hand. Method: a
// literal backward pass over a link of 1 byte per microsecond; every column of a table
// is one partition.
#include <gtest/gtest.h>

#include "tests/support/policy_timeline.h"
#include "trafficgen/policy/credit_policy.h"
#include "trafficgen/policy/p3_policy.h"

namespace outrider::urgent_first_test {
using namespace tg;
namespace {

using Schedule = std::vector<HandedOut>;

// Three tensors; 2 and 1 are cut into partitions of 100 B.
const std::vector<ReadyPiece> kBackward = {
    {0, 2, 100}, {0, 2, 100}, {0, 2, 50}, {120, 1, 100}, {120, 1, 20}, {130, 0, 30},
};

// piece      0    1    5    3    4    2
// tensor     2    2    0    1    1    2
// leaves     0  100  200  230  330  350   each when the one before is acknowledged
// last byte 100 200  230  330  350  400
TEST(P3Policy, TheMostUrgentPartitionAfterTheOneThatIsOnTheWire) {
  P3Policy policy(1, kBackward.size());
  const Schedule expected = {{0, 0}, {100, 1}, {200, 5}, {230, 3}, {330, 4}, {350, 2}};
  EXPECT_EQ(play(policy, kBackward), expected);
  EXPECT_EQ(play(policy, kBackward, {}, 5'000), expected) << "and again in the next iteration";
}

// The same, every acknowledgment 10 us late: stop-and-wait costs it once a partition.
TEST(P3Policy, WaitsForTheAcknowledgment) {
  P3Policy policy(1, kBackward.size());
  EXPECT_EQ(play(policy, kBackward, {.ack_us = 10}),
            (Schedule{{0, 0}, {110, 1}, {220, 5}, {260, 3}, {370, 4}, {400, 2}}));
}

// piece         0    1    2    5    3    4
// leaves        0    0  100  130  200  200
// unacked after 100  200 150  180  180  200   of a credit of 200
// last byte    100  200  250  280  380  400
// At 120 piece 3 (100 B) does not fit into 200 - 150; at 130 the more urgent 5 does.
TEST(CreditPolicy, AsManyPartitionsAsTheCreditCovers) {
  CreditPolicy policy(1, kBackward.size(), 200);
  const Schedule expected = {{0, 0}, {0, 1}, {100, 2}, {130, 5}, {200, 3}, {200, 4}};
  EXPECT_EQ(play(policy, kBackward), expected);
  EXPECT_EQ(play(policy, kBackward, {}, 5'000), expected);
}

TEST(CreditPolicy, OfOnePartitionIsP3AndOfAllIsTheOrderOfReadiness) {
  const std::vector<ReadyPiece> even = {{0, 2, 100},   {0, 2, 100},   {0, 2, 100},
                                        {120, 1, 100}, {120, 1, 100}, {130, 0, 100}};
  CreditPolicy one(1, even.size(), 100), all(1, even.size(), 600);
  P3Policy p3(1, even.size());
  EXPECT_EQ(play(one, even, {.ack_us = 7}), play(p3, even, {.ack_us = 7}));
  EXPECT_EQ(play(all, even), (Schedule{{0, 0}, {0, 1}, {0, 2}, {120, 3}, {120, 4}, {130, 5}}));
}

TEST(CreditPolicy, APartOfASegmentGivesNothingBack) {
  CreditPolicy policy(2, 3, 100);
  policy.begin(Time{});
  policy.on_ready({1, 0, 60, 0}, false, Time{});
  policy.on_ready({1, 1, 40, 1}, false, Time{});
  policy.on_ready({2, 0, 10, 2}, true, Time{});
  EXPECT_EQ(policy.next(Time{})->piece, 0U);
  EXPECT_EQ(policy.next(Time{})->piece, 1U);
  policy.on_acknowledged(0, 59, Time{});
  EXPECT_FALSE(policy.next(Time{}));
  policy.on_acknowledged(1, 39, Time{});
  EXPECT_FALSE(policy.next(Time{})) << "each target's stream is acknowledged by itself";
  policy.on_acknowledged(0, 1, Time{});
  EXPECT_EQ(policy.next(Time{})->piece, 2U);
}

}  // namespace
}  // namespace outrider::urgent_first_test
