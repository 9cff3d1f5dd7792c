// Goal: every tensor has one server, and each rule deals them out as it says.
#include "trafficgen/workload/plan/shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/source_path.h"

namespace outrider::shards_test {
using namespace tg;
namespace {

using Bytes = std::vector<std::uint64_t>;
using Servers = std::vector<std::uint32_t>;

ModelProfile model(const Bytes& sizes) {
  ModelProfile m;
  for (const auto bytes : sizes)
    m.tensors.push_back({"t" + std::to_string(m.tensors.size()), bytes});
  m.total_bytes = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  return m;
}

TEST(Shards, EqualBytesWhereverTensorsAreCut) {
  EXPECT_EQ(even_shards(10, 3), (Bytes{4, 3, 3}));
  EXPECT_EQ(shard_bytes_of(model({9, 1}), 3, ShardRule::kBytes), (Bytes{4, 3, 3}));
}

TEST(Shards, RoundRobinDealsInForwardOrder) {
  const ModelProfile m = model({5, 7, 1, 2, 9});
  EXPECT_EQ(assign_tensors(m.tensors, 2, ShardRule::kRoundRobin), (Servers{0, 1, 0, 1, 0}));
  EXPECT_EQ(shard_bytes_of(m, 2, ShardRule::kRoundRobin), (Bytes{15, 9}));
}

TEST(Shards, BalancedPlacesTheLargestFirst) {
  const ModelProfile m = model({5, 7, 1, 2, 9});
  // 9 -> 0, 7 -> 1, 5 -> 1 (7 < 9), 2 -> 0 (9 < 12), 1 -> 0 (11 < 12)
  EXPECT_EQ(assign_tensors(m.tensors, 2, ShardRule::kBalanced), (Servers{1, 1, 0, 0, 0}));
  EXPECT_EQ(shard_bytes_of(m, 2, ShardRule::kBalanced), (Bytes{12, 12}));
  EXPECT_EQ(assign_tensors(model({3, 3, 3}).tensors, 3, ShardRule::kBalanced), (Servers{0, 1, 2}))
      << "equal tensors and servers in order";
}

// Real models: all bytes are somewhere, and greedy is never worse than its bound,
// (total / servers) + the largest tensor (Graham, 1966).
TEST(Shards, RealModelsAreHeldWhole) {
  for (const char* name : {"vgg16", "resnet50", "bert-large", "resnet32-cifar"}) {
    const auto profile = load_model_profile(source_path("conf/models/") + name + ".toml");
    ASSERT_TRUE(profile);
    const ModelProfile& m = *profile.config;
    for (const auto rule : {ShardRule::kBytes, ShardRule::kRoundRobin, ShardRule::kBalanced}) {
      const Bytes shards = shard_bytes_of(m, 4, rule);
      EXPECT_EQ(std::accumulate(shards.begin(), shards.end(), std::uint64_t{0}), m.total_bytes);
      if (rule != ShardRule::kBalanced) continue;
      const std::uint64_t largest = std::ranges::max_element(m.tensors, {}, &Tensor::bytes)->bytes;
      EXPECT_LE(*std::ranges::max_element(shards), m.total_bytes / 4 + largest) << name;
    }
  }
}

// R2SP's authors cut tensors along the first axis, and a fully connected layer that is a
// convolution of 1 x 1 has one row there. So it stays whole.
TEST(Shards, OneServerHasMostOfAnAlexNetThatIsCutByRows) {
  const auto share_of_fullest = [](std::size_t servers) {
    const auto path = "conf/models/alexnet-cifar10-" + std::to_string(servers) + "-servers.toml";
    const ModelProfile m = load_model_profile(source_path(path)).config.value();
    const Bytes shards = shard_bytes_of(m, servers, ShardRule::kRoundRobin);
    return static_cast<double>(*std::ranges::max_element(shards)) /
           static_cast<double>(m.total_bytes);
  };
  EXPECT_NEAR(share_of_fullest(4), 0.605, 0.005);
  EXPECT_NEAR(share_of_fullest(16), 0.364, 0.005);
}

}  // namespace
}  // namespace outrider::shards_test
