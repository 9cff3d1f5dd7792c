// Goal: which tensors share a buffer, and when it leaves, on a literal backward pass.
#include "trafficgen/policy/fusion_policy.h"

#include <gtest/gtest.h>

#include "tests/support/policy_timeline.h"

namespace outrider::fusion_policy_test {
using namespace tg;
namespace {

using Schedule = std::vector<HandedOut>;
using std::chrono::microseconds;

// Cycle 100 us, buffer 150 B, link 1 B/us.
//   at 100  the cycle finds 0 (100 B), 1 (40 B), 2 (60 B): the first buffer is 0 + 1,
//           as 2 would make it 200 B; it is acknowledged at 240
//   at 240  the second buffer is 2, acknowledged at 300
//   at 300  the next cycle, due at 200, finds 3 (10 B, ready at 150) and 4 (500 B, larger
//           than a buffer): 3 alone, since 4 does not fit beside it; acknowledged at 310
//   at 310  4 alone, acknowledged at 810
TEST(FusionPolicy, PacksWhatACycleFindsAndSendsBuffersOneByOne) {
  const std::vector<ReadyPiece> backward = {
      {10, 4, 100}, {20, 3, 40}, {30, 2, 60}, {150, 1, 10}, {290, 0, 500}};
  FusionPolicy policy(1, backward.size(), 150, microseconds(100));
  const Schedule expected = {{100, 0}, {100, 1}, {240, 2}, {300, 3}, {310, 4}};
  EXPECT_EQ(play(policy, backward), expected);
  EXPECT_EQ(play(policy, backward, {}, 7'000), expected);
}

TEST(FusionPolicy, CyclesThatFindNothingKeepTheirRhythm) {
  FusionPolicy policy(1, 2, 1000, microseconds(100));
  EXPECT_EQ(play(policy, {{350, 1, 10}, {400, 0, 10}}), (Schedule{{400, 0}, {400, 1}}));
  EXPECT_EQ(play(policy, {{0, 1, 10}, {101, 0, 10}}, {}, 30), (Schedule{{100, 0}, {200, 1}}));
}

}  // namespace
}  // namespace outrider::fusion_policy_test
