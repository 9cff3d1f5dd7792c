// Goal: a flow keeps its equal-cost port while its packets come closer than the gap, and draws one
// anew after a silence. Strangers who fill the table leave the plain hash to others, and no more
// than a gap of silence later there is room again.
#include <gtest/gtest.h>

#include <set>

#include "switch/forwarding/flowlet_table.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::flowlet_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

constexpr Duration kGap = 100us;
constexpr std::uint32_t kPaths = 4, kByHash = 2;

FlowKey flow_of(std::uint32_t n) { return {n, 7, 1, 2}; }

struct Bench {
  FlowletTable table;

  explicit Bench(std::uint32_t entries)
      : table(entries, RandomStream(1, 0, RandomPurpose::kFlowletPath)) {}
  std::uint32_t send(std::uint32_t flow, Time now, std::uint32_t paths = kPaths) {
    return table.choose(flow_of(flow), paths, std::min(kByHash, paths - 1), kGap, now);
  }
};

TEST(Flowlets, KeepTheirPathUpToTheGapAndDrawOneAfterIt) {
  Bench b(64);
  Time now{1ms};
  EXPECT_EQ(b.send(1, now), kByHash) << "a flow begins by its hash";
  for (int i = 0; i < 50; ++i) EXPECT_EQ(b.send(1, now += kGap), kByHash);
  EXPECT_EQ(b.table.counters().flowlets_begun, 1U);
  std::array<int, kPaths> drawn{};
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t path = b.send(1, now += kGap + 1ns);
    ++drawn[path];
    EXPECT_EQ(b.send(1, now += kGap / 2), path) << "within the flowlet";
  }
  for (const int n : drawn) {  // binomial: 100 +- 9
    EXPECT_GT(n, 65);
    EXPECT_LT(n, 135);
  }
  EXPECT_EQ(b.table.counters().flowlets_begun, 401U);
  EXPECT_EQ(b.table.counters().flowlets_no_room, 0U);
}

TEST(Flowlets, OfAFullTableGoByHashUntilOthersAreSilent) {
  Bench b(4);  // one bucket
  for (std::uint32_t flow = 0; flow < 4; ++flow) b.send(flow, Time{1ms});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(b.send(9, Time{1ms + kGap}), kByHash);
  EXPECT_EQ(b.table.counters().flowlets_no_room, 10U);
  for (std::uint32_t flow = 1; flow < 4; ++flow) b.send(flow, Time{1ms + kGap});
  EXPECT_EQ(b.send(9, Time{1ms + kGap + 1ns}), kByHash) << "in the place of flow 0";
  EXPECT_EQ(b.table.counters().flowlets_no_room, 10U);
  EXPECT_EQ(b.table.counters().flowlets_begun, 5U);
  b.send(0, Time{1ms + kGap + 1ns});
  EXPECT_EQ(b.table.counters().flowlets_no_room, 11U) << "others are within their gaps";
}

TEST(Flowlets, TakeNoPathThatAReloadHasTakenAway) {
  Bench b(64);
  EXPECT_EQ(b.send(1, Time{1ms}), 2U);
  EXPECT_LT(b.send(1, Time{1ms}, 2), 2U);
}

SwitchConfig flowlets() {
  auto config = B::config();
  config.routes.push_back(
      {.prefix = "10.9.0.0/16", .ports = {"east", "south", "west"}, .flowlet_gap = kGap});
  return config;
}

std::set<std::uint32_t> ports_of(const B& bench) {
  std::set<std::uint32_t> ports;
  for (std::uint32_t p = 0; p < 3; ++p)
    if (bench.out[p].size() != 0) ports.insert(p);
  return ports;
}

TEST(Flowlets, OfASwitchAreCountedAndSurviveAReload) {
  const FrameSpec one{.flow = {ip("10.0.1.1"), ip("10.9.1.1"), 1, 2}};
  const auto config = flowlets();
  B bench(config);
  for (int i = 0; i < 30; ++i) bench.send(one, Time{i * kGap / 2});
  bench.run();
  EXPECT_EQ(ports_of(bench).size(), 1U);
  EXPECT_EQ(bench.report({}).flowlets_begun, 1U);
  auto wanted = config;
  wanted.routes.back().flowlet_gap = kGap / 4;
  SwitchChange change = bench.sw.prepare(config, wanted);
  bench.sw.apply(change, Time{10ms});
  bench.sw.retire(change);
  for (int i = 0; i < 30; ++i) bench.send(one, Time{10ms + i * kGap / 2});
  bench.run();
  EXPECT_EQ(ports_of(bench).size(), 3U);
  EXPECT_EQ(bench.report({}).flowlets_begun, 31U);
}

}  // namespace
}  // namespace outrider::flowlet_test
