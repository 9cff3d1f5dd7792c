// Goal: bytes stand for parameters as documented: evenly, in the order of shards, each
// parameter once.
#include "trafficgen/learner/parameter_map.h"

#include <gtest/gtest.h>

#include "common/core/random.h"

namespace outrider::parameter_map_test {
using namespace tg;
namespace {

using Range = ParameterMap::Range;

// 4 parameters of 10 bytes: theirs are 0, 2, 5 and 7; shards of 6 and 4 bytes.
TEST(ParameterMap, FollowsItsFormula) {
  const std::uint64_t shards[] = {6, 4};
  const ParameterMap map(4, shards);
  EXPECT_EQ(map.shard(0), (Range{0, 3}));
  EXPECT_EQ(map.shard(1), (Range{3, 4}));
  struct {
    std::uint32_t server;
    ByteRange bytes;
    Range expected;
    const char* why;
  } const kRows[] = {
      {0, {0, 6}, {0, 3}, "the whole shard"},
      {0, {0, 1}, {0, 1}, "the first parameter's byte alone"},
      {0, {1, 2}, {1, 1}, "a byte between stands for nobody"},
      {0, {2, 6}, {1, 3}, "begins with the second's"},
      {0, {3, 5}, {2, 2}, "ends before the third's"},
      {1, {0, 1}, {3, 3}, "byte 6 of the model is nobody's"},
      {1, {1, 2}, {3, 4}, "byte 7 is the fourth's"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(map.parameters(row.server, row.bytes), row.expected) << row.why;
}

TEST(ParameterMap, ShardsMayHoldNoParameter) {
  const std::uint64_t shards[] = {1, 1, 1};
  const ParameterMap map(2, shards);  // bytes 0 and 1
  EXPECT_EQ(map.shard(0), (Range{0, 1}));
  EXPECT_EQ(map.shard(1), (Range{1, 2}));
  EXPECT_EQ(map.shard(2).size(), 0U);
}

// Whatever the sizes, a cut of a shard into ranges takes every parameter once, in order.
TEST(ParameterMap, CutsTakeEveryParameterOnce) {
  RandomStream draws(1, 0, RandomPurpose::kTest);
  const auto up_to = [&draws](std::uint64_t most) { return draws.next_u32() % most + 1; };
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t parameters = up_to(50);
    const std::uint64_t shards[] = {parameters * up_to(1'000'000), up_to(1000), up_to(70)};
    const ParameterMap map(parameters, shards);
    std::size_t next = 0;
    for (std::uint32_t server = 0; server < 3; ++server) {
      EXPECT_EQ(map.shard(server).begin, next);
      for (std::uint64_t at = 0; at < shards[server];) {
        const std::uint64_t end = std::min(at + up_to(shards[server]), shards[server]);
        const Range r = map.parameters(server, {at, end});
        EXPECT_EQ(r.begin, next);
        next = r.end;
        at = end;
      }
      EXPECT_EQ(map.shard(server).end, next);
    }
    EXPECT_EQ(next, parameters);
  }
}

}  // namespace
}  // namespace outrider::parameter_map_test
