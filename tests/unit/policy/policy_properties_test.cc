// Goal: what holds for every policy on every backward pass: each byte leaves exactly once,
// no more urgent piece is passed over, a credit is never exceeded. Method: random
// backward passes by seed, several iterations, one to three targets.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/policy_timeline.h"
#include "trafficgen/policy/make_send_policy.h"

namespace outrider::policy_properties_test {
using namespace tg;
namespace {

constexpr std::uint64_t kCredit_bytes = 700;
constexpr std::uint32_t kTargets = 3;

/// Tensors from the last to the first, each in 1 to 4 pieces, in steps.
std::vector<ReadyPiece> random_backward(std::mt19937& random) {
  const auto draw = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  std::vector<ReadyPiece> pieces;
  std::int64_t at_us = 0;
  for (std::uint32_t tensor = draw(1, 30); tensor-- > 0;) {
    if (draw(0, 3) == 0) at_us += draw(1, 2000);
    for (std::uint32_t part = draw(1, 4); part-- > 0;)
      pieces.push_back({at_us, tensor, draw(1, 500), draw(0, kTargets - 1)});
  }
  return pieces;
}

void check_order(SendPolicyKind kind, const std::vector<ReadyPiece>& backward, bool planned,
                 const std::vector<std::uint32_t>& ready, const PushSegment& leaves) {
  const bool urgent_first = kind == SendPolicyKind::kP3 || kind == SendPolicyKind::kCredit ||
                            (kind == SendPolicyKind::kProphet && planned);
  if (!urgent_first) {
    EXPECT_EQ(leaves.piece, ready.front()) << "in the order of the backward pass";
    return;
  }
  const bool all_ready = ready.back() + 1 == backward.size();
  for (const std::uint32_t other : ready) {
    // Prophet: what is ready of a step that is not complete is not offered yet.
    if (kind == SendPolicyKind::kProphet && !all_ready) break;
    EXPECT_GE(backward[other].tensor, backward[leaves.piece].tensor);
  }
}

void expect_properties(SendPolicyKind kind, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto backward = random_backward(random);
  const auto pieces = gradient_pieces(backward);
  PolicyConfig config{.granularity = Granularity::kTensor};
  config.credit_bytes = kCredit_bytes;
  config.fusion_bytes = 1000;
  config.cycle = std::chrono::microseconds(137);
  const auto policy = make_send_policy(kind, config, kTargets, pieces);
  for (int iteration = 0; iteration < 4; ++iteration) {
    std::vector<int> left(pieces.size(), 0);
    TimelineLink link{.ack_us = static_cast<std::int64_t>(random() % 60)};
    link.on_hand_out = [&](const auto& ready, const PushSegment& leaves, std::uint64_t unacked) {
      ++left.at(leaves.piece);
      EXPECT_EQ(leaves.bytes, pieces.at(leaves.piece).bytes);
      EXPECT_EQ(leaves.target, pieces.at(leaves.piece).target);
      check_order(kind, backward, iteration > 0, ready, leaves);
      if (kind == SendPolicyKind::kP3) {
        EXPECT_EQ(unacked, 0U);
      }
      if (kind == SendPolicyKind::kCredit) {
        EXPECT_LE(unacked + leaves.bytes, kCredit_bytes);
      }
    };
    (void)play(*policy, backward, link, iteration * 1'000'000);
    EXPECT_TRUE(std::ranges::all_of(left, [](int n) { return n == 1; }))
        << "seed " << seed << " iteration " << iteration;
  }
}

TEST(SendPolicies, EveryPieceLeavesOnceInTheOrderThatIsPromised) {
  for (const auto& kind : kSendPolicies)
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
      SCOPED_TRACE(std::string(kind.name));
      expect_properties(kind.value, seed);
      if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace outrider::policy_properties_test
