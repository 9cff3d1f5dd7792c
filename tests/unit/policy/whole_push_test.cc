// Goal: which bytes a policy lets go after which event, on literal backward passes.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "trafficgen/policy/fifo_policy.h"
#include "trafficgen/policy/wfbp_policy.h"
#include "trafficgen/workload/plan/shards.h"

namespace outrider::whole_push_test {
using namespace tg;
namespace {

using Segments = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

Segments drain(SendPolicy& policy) {
  Segments out;
  while (const auto s = policy.next(Time{})) out.emplace_back(s->target, s->bytes);
  return out;
}

TEST(FifoPolicy, OneSegmentPerTargetAfterTheLastPiece) {
  FifoPolicy policy(2);
  for (int iteration = 0; iteration < 2; ++iteration) {
    policy.begin(Time{});
    EXPECT_EQ(drain(policy), Segments{});
    policy.on_ready({2, 1, 10}, false, Time{});
    policy.on_ready({1, 0, 20}, false, Time{});
    EXPECT_EQ(drain(policy), Segments{}) << "the backward pass is not over";
    policy.on_ready({0, 1, 5}, true, Time{});
    EXPECT_EQ(drain(policy), (Segments{{0, 20}, {1, 15}}));
    EXPECT_EQ(drain(policy), Segments{}) << "once";
  }
}

TEST(WfbpPolicy, EveryPieceAtOnceInTheOrderOfTheBackwardPass) {
  WfbpPolicy policy(3);
  policy.begin(Time{});
  policy.on_ready({2, 1, 10}, false, Time{});
  EXPECT_EQ(drain(policy), (Segments{{1, 10}}));
  policy.on_ready({1, 0, 20}, false, Time{});
  policy.on_ready({0, 1, 5}, true, Time{});
  EXPECT_EQ(drain(policy), (Segments{{0, 20}, {1, 5}})) << "what waited for the release";
  policy.on_ready({2, 1, 10}, false, Time{});
  policy.begin(Time{});
  EXPECT_EQ(drain(policy), Segments{}) << "nothing is left from the iteration before";
}

TEST(FifoPiecesPolicy, EveryPieceByItselfAfterTheLast) {
  FifoPiecesPolicy policy(3);
  for (int iteration = 0; iteration < 2; ++iteration) {
    policy.begin(Time{});
    policy.on_ready({2, 1, 10, 0}, false, Time{});
    policy.on_ready({1, 0, 20, 1}, false, Time{});
    EXPECT_EQ(drain(policy), Segments{}) << "the backward pass is not over";
    policy.on_ready({0, 1, 5, 2}, true, Time{});
    EXPECT_EQ(drain(policy), (Segments{{1, 10}, {0, 20}, {1, 5}}));
    EXPECT_EQ(drain(policy), Segments{}) << "once";
  }
}

ModelProfile three_tensors() {
  ModelProfile m;
  m.tensors = {{"a", 5}, {"b", 7}, {"c", 2}};
  m.total_bytes = 14;
  return m;
}

using Pieces = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>>;

Pieces pieces(std::size_t servers, ShardRule rule) {
  Pieces out;
  for (const auto& p : pieces_of(three_tensors(), servers, rule))
    out.emplace_back(p.tensor, p.target, p.bytes);
  return out;
}

TEST(GradientPieces, LastTensorFirstAndCutWhereAServersPartEnds) {
  // 14 bytes of 2 servers: server 0 holds [0, 7), server 1 [7, 14); b is [5, 12)
  EXPECT_EQ(pieces(2, ShardRule::kBytes), (Pieces{{2, 1, 2}, {1, 0, 2}, {1, 1, 5}, {0, 0, 5}}));
  EXPECT_EQ(pieces(1, ShardRule::kBytes), (Pieces{{2, 0, 2}, {1, 0, 7}, {0, 0, 5}}));
  EXPECT_EQ(pieces(2, ShardRule::kRoundRobin), (Pieces{{2, 0, 2}, {1, 1, 7}, {0, 0, 5}}));
}

TEST(GradientPieces, PartitionsAreFullButTheLastOfAPiece) {
  const auto whole = pieces_of(three_tensors(), 2, ShardRule::kBytes);
  Pieces cut;
  for (const auto& p : cut_partitions(whole, 3)) cut.emplace_back(p.tensor, p.target, p.bytes);
  EXPECT_EQ(cut, (Pieces{{2, 1, 2}, {1, 0, 2}, {1, 1, 3}, {1, 1, 2}, {0, 0, 3}, {0, 0, 2}}));
  EXPECT_EQ(cut_partitions(whole, 5).size(), whole.size()) << "as large as the largest";
}

}  // namespace
}  // namespace outrider::whole_push_test
