// Goal: Prophet's steps, its bandwidth, and a schedule worked out by hand.
#include "trafficgen/policy/prophet_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/policy_timeline.h"

namespace outrider::prophet_policy_test {
using namespace tg;
namespace {

using Schedule = std::vector<HandedOut>;
using std::chrono::microseconds;

// Tensors 3 and 2 together, 1 and 0 together 400 us later.
const std::vector<ReadyPiece> kBackward = {{0, 3, 100}, {0, 2, 100}, {400, 1, 200}, {400, 0, 50}};

ProphetPolicy policy_with(const std::vector<GradientPiece>& pieces, double error,
                          std::uint64_t credit_bytes = 250) {
  return ProphetPolicy(
      {.targets = 1, .pieces = pieces, .credit_bytes = credit_bytes, .bandwidth_error = error});
}

TEST(ProphetSteps, AGapIsLongerThanTwiceTheMean) {
  const auto us = [](std::int64_t v) { return Duration(microseconds(v)); };
  // Gaps from the last tensor on: 10, 10, 61, 10, 10, 20; their mean is 121 / 6.
  const Duration ready[] = {us(121), us(101), us(91), us(81), us(20), us(10), us(0)};
  const auto steps = prophet_steps(ready);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].last_tensor, 4U);
  EXPECT_EQ(steps[0].gap, us(61));
  EXPECT_EQ(steps[1].last_tensor, 0U);
  // Gaps 1, 1, 4: twice the mean is 4, which is not longer.
  const Duration even[] = {us(6), us(2), us(1), us(0)};
  EXPECT_EQ(prophet_steps(even).size(), 1U);
  const Duration one[] = {us(0)};
  EXPECT_EQ(prophet_steps(one).size(), 1U);
}

// Profile, as WFBP: every piece when it is ready. Piece 0 takes 100 us for 100 B, 1 waits
// behind it (100 B in 200 us), 2 takes 200 us for 200 B: B = 1 byte/us.
// Schedule: gaps 0, 400, 0 us, mean 400/3: one gap, steps {3, 2} and {1, 0}.
//   at   0  budget 400: piece 1 (tensor 2, 100 B), then 0 (tensor 3, 100 < 300)
//   at 400  tensor 0 is there; credit 250: piece 3 (50 B) and 2 (200 B)
TEST(ProphetPolicy, SendsInAGapWhatFitsTheFirstLayerFirst) {
  const auto pieces = gradient_pieces(kBackward);
  ProphetPolicy policy = policy_with(pieces, 1);
  EXPECT_EQ(play(policy, kBackward), (Schedule{{0, 0}, {0, 1}, {400, 2}, {400, 3}}));
  const Schedule planned = {{0, 1}, {0, 0}, {400, 3}, {400, 2}};
  EXPECT_EQ(play(policy, kBackward, {}, 2'000), planned);
  EXPECT_DOUBLE_EQ(policy.bandwidth_bytes_per_second(), 1e6);
  ASSERT_EQ(policy.steps().size(), 2U);
  EXPECT_EQ(policy.steps()[0].last_tensor, 2U);
  EXPECT_EQ(policy.steps()[0].gap, Duration(microseconds(400)));
  EXPECT_EQ(play(policy, kBackward, {}, 4'000), planned);
}

// A bandwidth of 0.3 of the true one: budget 120 B.
//   at   0  piece 1 (100 < 120); 0 (100 B) does not fit into 20 and stays
//   at 400  piece 3 (50 B) and 2 (200 B) fill the credit of 250; acknowledged at 450 and 650
//   at 650  piece 0, the least urgent: 100 B did not fit into 50 before
TEST(ProphetPolicy, WhatDoesNotFitStaysBeneathTheNextStep) {
  const auto pieces = gradient_pieces(kBackward);
  ProphetPolicy policy = policy_with(pieces, 0.3);
  (void)play(policy, kBackward);
  EXPECT_EQ(play(policy, kBackward, {}, 2'000), (Schedule{{0, 1}, {400, 3}, {400, 2}, {650, 0}}));
}

// The budget must be larger than the piece, not equal: 100 B do not leave with 100 B.
TEST(ProphetPolicy, APieceOfTheWholeBudgetStays) {
  const auto pieces = gradient_pieces(kBackward);
  ProphetPolicy policy = policy_with(pieces, 0.25);  // of 1 MB/s, x 400 us = 100 B
  (void)play(policy, kBackward);
  EXPECT_EQ(play(policy, kBackward, {}, 2'000).front(), (HandedOut{400, 3}));
}

// A step is waited for as a whole, every part of its tensors: the second part of tensor 2
// comes 5 us late.
TEST(ProphetPolicy, WaitsForTheWholeStep) {
  const std::vector<ReadyPiece> parts = {
      {0, 3, 100}, {0, 2, 60}, {5, 2, 40}, {400, 1, 200}, {400, 0, 50}};
  const auto pieces = gradient_pieces(parts);
  ProphetPolicy policy = policy_with(pieces, 1);
  (void)play(policy, parts);
  EXPECT_EQ(play(policy, parts, {}, 2'000), (Schedule{{5, 1}, {5, 2}, {5, 0}, {400, 4}, {400, 3}}));
}

// Without steps everything is one: nothing leaves before the backward pass has ended.
TEST(ProphetPolicy, AnEvenBackwardPassIsOneStep) {
  const std::vector<ReadyPiece> even = {{0, 2, 10}, {10, 1, 10}, {20, 0, 10}};
  const auto pieces = gradient_pieces(even);
  ProphetPolicy policy = policy_with(pieces, 1);
  (void)play(policy, even);
  EXPECT_EQ(play(policy, even, {}, 1'000), (Schedule{{20, 2}, {20, 1}, {20, 0}}));
}

// Each iteration: 450 B in as many us of sending, and the link idle between the steps. From the
// fourth on the link has half the bandwidth: 500'000 B/s. The error is 1, 1/2, 1/4, ... of that.
TEST(ProphetPolicy, TheMonitorFollowsABandwidthThatHalves) {
  const auto pieces = gradient_pieces(kBackward);
  ProphetPolicy policy({.targets = 1, .pieces = pieces, .credit_bytes = 250, .monitors = true});
  std::int64_t begin_us = 0;
  const auto iterate = [&](std::int64_t us_per_byte) {
    (void)play(policy, kBackward, {.us_per_byte = us_per_byte}, begin_us);
    begin_us += 10'000;
  };
  for (int i = 0; i < 3; ++i) iterate(1);
  for (const double expected : {1e6, 0.75e6, 0.625e6, 0.5625e6, 0.53125e6}) {
    iterate(2);
    EXPECT_DOUBLE_EQ(policy.bandwidth_bytes_per_second(), expected);
  }
}

// The profile does not follow.
TEST(ProphetPolicy, TheProfileKeepsItsBandwidth) {
  const auto pieces = gradient_pieces(kBackward);
  ProphetPolicy policy = policy_with(pieces, 1);
  for (std::int64_t i = 0; i < 8; ++i)
    (void)play(policy, kBackward, {.us_per_byte = i < 3 ? 1 : 2}, i * 10'000);
  EXPECT_DOUBLE_EQ(policy.bandwidth_bytes_per_second(), 1e6);
}

// A block is what may leave together: {1, 0} into the gap, then what the credit of 250 B covers.
TEST(ProphetPolicy, ABlockIsOneMessage) {
  const auto pieces = gradient_pieces(kBackward);
  for (const bool joins : {false, true}) {
    ProphetPolicy policy({.targets = 1, .pieces = pieces, .credit_bytes = 250, .joins = joins});
    (void)play(policy, kBackward);
    std::vector<bool> joined;
    TimelineLink link;
    link.on_hand_out = [&](const auto&, const PushSegment& s, auto) { joined.push_back(s.joined); };
    (void)play(policy, kBackward, link, 2'000);
    EXPECT_EQ(joined, (std::vector<bool>{joins, false, joins, false}));
  }
}

// The authors' first queue. Blocks {0, 1} and {2, 3}, of which the first tensor leaves at once:
//   at   0  piece 1 (tensor 2); piece 0 (tensor 3) waits, as long as the link may be idle
//   at 400  tensor 0 is there; credit 250: pieces 3 (50 B) and 2 (200 B), acknowledged at 650
//   at 650  piece 0
TEST(ProphetPolicy, WhatWaitsInABlockLeavesAfterTensor0) {
  const auto pieces = gradient_pieces(kBackward);
  const std::uint32_t config[] = {0, 1, 2, 3};
  const auto blocks = prophet_blocks(config);
  ProphetPolicy policy({.targets = 1, .pieces = pieces, .credit_bytes = 250, .blocks = blocks});
  const Schedule planned = {{0, 1}, {400, 3}, {400, 2}, {650, 0}};
  EXPECT_EQ(play(policy, kBackward), planned) << "nothing is profiled";
  EXPECT_EQ(play(policy, kBackward, {}, 2'000).size(), planned.size());
}

// Nothing leaves before a block is ready, and nothing of an earlier one with it.
TEST(ProphetPolicy, ABlockIsWaitedFor) {
  const std::vector<ReadyPiece> late = {{0, 3, 100}, {5, 2, 100}, {400, 1, 100}, {410, 0, 50}};
  const auto pieces = gradient_pieces(late);
  const std::uint32_t config[] = {0, 1, 1, 2, 2, 3};
  const auto blocks = prophet_blocks(config);
  ProphetPolicy policy({.targets = 1, .pieces = pieces, .credit_bytes = 250, .blocks = blocks});
  EXPECT_EQ(play(policy, late), (Schedule{{5, 1}, {400, 2}, {410, 3}, {410, 0}}));
}

TEST(ProphetPolicy, ProfilesAsLongAsItIsTold) {
  const auto pieces = gradient_pieces(kBackward);
  ProphetPolicy policy(
      {.targets = 1, .pieces = pieces, .credit_bytes = 250, .profile_iterations = 2});
  std::vector<ReadyPiece> late = kBackward;
  for (auto& p : late)
    if (p.tensor < 2) p.at_us = 600;
  (void)play(policy, kBackward);
  EXPECT_EQ(play(policy, late, {}, 2'000).front().piece, 0U) << "still as WFBP";
  EXPECT_EQ(play(policy, kBackward, {}, 4'000).front().piece, 1U);
  EXPECT_EQ(policy.steps()[0].gap, Duration(microseconds(500))) << "the mean of both";
}

}  // namespace
}  // namespace outrider::prophet_policy_test
