// Goal: a case that is cut across ranks, or in tiles, gives the reports of the uncut one, byte for
// byte, however it is cut. Method: all ranks in one process, in turn; reports are compared as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "switch/report/report_json.h"
#include "tests/support/simulation.h"
#include "tests/support/source_path.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/ranks/run_ranks.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/report/report_json.h"

namespace outrider::ranks_test {
using namespace lab;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string text_of(const RunResult& r) {
  return sw::to_json(r.switches) + tg::to_json(r.traffic) + std::to_string(r.mbufs_leaked);
}

constexpr std::pair<CutKind, const char*> kCuts[]{
    {CutKind::kBlocks, "blocks"}, {CutKind::kTurns, "turns"}, {CutKind::kMetis, "metis"}};

/// Compares a case in one piece with the same on up to `ranks`.
void expect_equal(const Case& c, std::uint32_t ranks) {
  const Mempool pool = make_test_pool(buffers_needed(c));
  const std::string whole = text_of(run_virtual(c, *pool, {}, 1));
  for (std::uint32_t n = 1; n <= ranks; ++n) {
    for (const auto& [cut, name] : kCuts) {
      const Partition partition = make_partition(c.switches, c.traffic, n, cut);
      EXPECT_EQ(partition.cuts.empty(), n == 1);
      const RunResult joined = run_in_turns(c, partition, make_rank_pools(c, partition));
      EXPECT_TRUE(joined.switches.ledger_balanced) << name << ' ' << n;
      EXPECT_TRUE(joined.traffic.ledger_balanced) << name << ' ' << n;
      EXPECT_TRUE(text_of(joined) == whole) << c.label << " on " << n << " ranks, cut: " << name;
    }
  }
}

/// Compares a case in one piece with the same in up to `tiles`, also on two ranks.
void expect_equal_in_tiles(const Case& c, std::uint32_t tiles) {
  const Mempool pool = make_test_pool(buffers_needed(c));
  const std::string whole = text_of(run_virtual(c, *pool, {}, 1));
  for (std::uint32_t n = 2; n <= tiles; ++n)
    EXPECT_TRUE(text_of(run_virtual(c, *pool, {}, n)) == whole) << c.label << " in " << n;
  for (const auto& [cut, name] : kCuts) {
    const Partition both = make_partition(c.switches, c.traffic, 2, cut, 2);
    ASSERT_EQ(both.tiles, 2U);
    EXPECT_TRUE(text_of(run_in_turns(c, both, make_rank_pools(c, both))) == whole)
        << c.label << " on two ranks, cut: " << name;
  }
}

/// Returns the ranks, and their tiles, that have a switch or a host.
std::set<std::pair<std::uint32_t, std::uint32_t>> places_of(const Partition& p) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> all;
  for (std::size_t s = 0; s < p.of_switch.size(); ++s)
    all.emplace(p.of_switch[s], p.tile_of_switch[s]);
  for (std::size_t h = 0; h < p.of_host.size(); ++h) all.emplace(p.of_host[h], p.tile_of_host[h]);
  return all;
}

/// A dumbbell with every kind of traffic that a report has records of.
Case with_all_traffic() {
  Dumbbell d;
  d.workers = 3;
  d.background_flows = 3;
  d.job.iterations = 2;
  d.job.pull = true;
  d.job.arrivals = {100ms};
  Case c;
  c.label = "off";
  c.role = ArmRole::kBaseline;
  c.switches = d.switches();
  c.traffic = d.traffic();
  c.base_rtt = d.rtt;
  c.traffic.attribution = true;
  c.traffic.connection_sample_period = 50ms;
  const std::string transport = c.traffic.transports.front().name;
  c.traffic.requests.push_back({.name = "ask",
                                .from = {"b1"},
                                .to = {"c1"},
                                .connections = 2,
                                .transport = transport,
                                .think = 1ms});
  c.traffic.transfers.push_back({.name = "copy",
                                 .from = "b2",
                                 .to = "c2",
                                 .bytes = 300'000,
                                 .count = 2,
                                 .transport = transport});
  return c;
}

TEST(Ranks, EveryKindOfTrafficIsTheSameOnFour) {
  const Case c = with_all_traffic();
  ASSERT_TRUE(sw::validate(c.switches).empty());
  ASSERT_TRUE(tg::validate(c.traffic).empty()) << format_issues("c", tg::validate(c.traffic));
  expect_equal(c, 4);
  const Mempool pool = make_test_pool(buffers_needed(c));
  const RunResult r = run_virtual(c, *pool);
  EXPECT_EQ(r.traffic.jobs.size(), 2U);
  EXPECT_FALSE(r.traffic.requests.empty() || r.traffic.transfers.empty());
  EXPECT_FALSE(r.traffic.connections.empty() || r.traffic.bursts.empty());
}

// The ICRC of a packet goes along, though it is not in the buffer.
TEST(Ranks, BurstsOverRoceAreTheSameOnTwo) {
  Case c = with_all_traffic();
  c.traffic.attribution = false;
  c.traffic.transports.push_back(
      {.name = "rdma", .tcp = {}, .protocol = tg::TransportProtocol::kRoce});
  c.traffic.jobs[0].transport = "rdma";
  c.traffic.jobs[0].announce = {.lead_source = tg::LeadSource::kNone};
  ASSERT_TRUE(tg::validate(c.traffic).empty()) << format_issues("c", tg::validate(c.traffic));
  const Partition two = make_partition(c.switches, c.traffic, 2, CutKind::kTurns);
  const RunResult r = run_in_turns(c, two, make_rank_pools(c, two));
  const Mempool pool = make_test_pool(buffers_needed(c));
  EXPECT_TRUE(text_of(run_virtual(c, *pool)) == text_of(r));
  EXPECT_GT(r.traffic.roce.in_order, 0U);
  EXPECT_EQ(r.traffic.roce.bad_icrc, 0U);
}

TEST(Ranks, ASprayedLeafSpineIsTheSameOnFour) {
  const auto file = load_experiment(source_path("conf/experiments/dlcp-spine.toml"));
  const auto cases = make_plan(file.config.value(), {.arms = {"off-mlt-10-sprayed"}, .quick = true})
                         .config.value();
  expect_equal(cases.back(), 4);
}

// Between two ranks nothing arrives within the window in which it left, so a window may not be
// longer than the shortest cut wire says.
TEST(Ranks, ALongerWindowThanTheCutAllowsIsNoticed) {
  const Case c = with_all_traffic();
  Partition partition = make_partition(c.switches, c.traffic, 2, CutKind::kTurns);
  const auto pools = make_rank_pools(c, partition);
  partition.lookahead *= 20;
  EXPECT_THROW(run_in_turns(c, partition, pools), std::runtime_error);
  for (const Mempool& pool : pools) EXPECT_EQ(rte_mempool_in_use_count(pool.get()), 0U);
}

// The pool is filled before a case begins: with a pool of the whole case, more ranks on a machine
// would need more memory.
TEST(Ranks, EachRankNeedsBuffersForItsPartAlone) {
  const Case c = with_all_traffic();
  const Partition partition = make_partition(c.switches, c.traffic, 2, CutKind::kBlocks);
  const std::uint32_t whole = buffers_needed(c);
  std::uint32_t parts = 0;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t part = buffers_needed(c, {&partition, rank});
    EXPECT_LT(part, whole) << rank;
    parts += part;
  }
  EXPECT_GE(parts, whole);
}

TEST(Ranks, EachRankHasRoomForWhatIsOnAnyWire) {
  Case c = with_all_traffic();
  for (auto& one : c.switches.switches)
    for (auto& port : one.ports)
      if (port.device) port.delay = 500ms;  // thousands of packets
  const Partition partition = make_partition(c.switches, c.traffic, 2, CutKind::kTurns);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    EXPECT_GT(10 * buffers_needed(c, {&partition, rank}), 9 * buffers_needed(c)) << rank;
}

std::string refusal(const Case& c, std::uint32_t ranks, std::uint64_t least_work) {
  try {
    check_work(make_partition(c.switches, c.traffic, ranks, CutKind::kBlocks), least_work);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(Tiles, ChangeNothing) {
  Case c = with_all_traffic();
  c.traffic.connection_sample_period.reset();
  expect_equal_in_tiles(c, 6);
  const auto file = load_experiment(source_path("conf/experiments/dlcp-spine.toml"));
  const auto cases = make_plan(file.config.value(), {.arms = {"off-mlt-10-sprayed"}, .quick = true})
                         .config.value();
  expect_equal_in_tiles(cases.back(), 4);
}

// Too many ranks are refused, because they cost processors; too many tiles cost nothing.
TEST(Tiles, AreNoMoreThanThereAreParts) {
  Case c = with_all_traffic();
  EXPECT_EQ(make_partition(c.switches, c.traffic, 1, CutKind::kBlocks, 100).tiles, 1U)
      << "its samples of connections are of one instant";
  c.traffic.connection_sample_period.reset();
  EXPECT_EQ(make_partition(c.switches, c.traffic, 1, CutKind::kBlocks, 100).tiles, 6U);
  EXPECT_EQ(make_partition(c.switches, c.traffic, 2, CutKind::kBlocks, 100).tiles, 3U);
}

TEST(Tiles, OfARankHaveAllItsSwitchesAndHosts) {
  Case c = with_all_traffic();
  c.traffic.connection_sample_period.reset();
  const Partition p = make_partition(c.switches, c.traffic, 2, CutKind::kTurns, 2);
  EXPECT_THAT(places_of(p), testing::ElementsAre(std::pair(0U, 0U), std::pair(0U, 1U),
                                                 std::pair(1U, 0U), std::pair(1U, 1U)));
}

std::uint32_t quickest_tiles_of(const char* file, void (*change)(Case&)) {
  auto plan = make_plan(load_experiment(source_path(file)).config.value(), {.quick = true});
  Case c = plan.config.value().front();
  change(c);
  return make_partition(c.switches, c.traffic, 1, CutKind::kBlocks, 0).tiles;
}

TEST(Tiles, AreForLargeNetworksWithLongWindows) {
  const auto as_it_is = [](Case&) {};
  EXPECT_EQ(quickest_tiles_of("conf/experiments/fabric.toml", as_it_is), 1U) << "27 hosts";
  EXPECT_EQ(quickest_tiles_of("conf/experiments/fabric-1024.toml", as_it_is), 40U) << "640 hosts";
  EXPECT_EQ(quickest_tiles_of("conf/experiments/fabric-1024.toml",
                              [](Case& c) {
                                for (auto& link : c.switches.links) link.delay = 10ns;
                              }),
            1U)
      << "windows of 10 ns";
}

Case first_case_of(const char* file) {
  return make_plan(load_experiment(source_path(file)).config.value(), {.quick = true})
      .config.value()
      .front();
}

bool all_have_part(const Partition& p) {
  return places_of(p).size() == std::size_t{p.ranks} * p.tiles;
}

TEST(MetisCut, CutsFewerWiresOfALeafSpineThanTurnsAndNoMoreThanBlocks) {
  for (const char* const file :
       {"conf/experiments/fabric/packed.toml", "conf/experiments/fabric-1024.toml"}) {
    const Case c = first_case_of(file);
    for (const std::uint32_t ranks : {2U, 3U, 4U}) {
      const auto cut = [&](CutKind kind) {
        return make_partition(c.switches, c.traffic, ranks, kind);
      };
      const Partition metis = cut(CutKind::kMetis);
      EXPECT_LT(metis.cuts.size(), cut(CutKind::kTurns).cuts.size()) << file << ' ' << ranks;
      EXPECT_LE(metis.cuts.size(), cut(CutKind::kBlocks).cuts.size()) << file << ' ' << ranks;
      EXPECT_TRUE(all_have_part(metis)) << file << ' ' << ranks;
      const Partition again = cut(CutKind::kMetis);
      EXPECT_TRUE(metis.of_switch == again.of_switch && metis.of_host == again.of_host);
    }
  }
}

TEST(MetisCut, GivesEveryTileOfEveryRankAPart) {
  const Case c = first_case_of("conf/experiments/fabric-1024.toml");
  for (const std::uint32_t ranks : {1U, 2U, 3U, 5U}) {
    const Partition p = make_partition(c.switches, c.traffic, ranks, CutKind::kMetis, 13);
    EXPECT_EQ(p.tiles, 13U);
    EXPECT_TRUE(all_have_part(p)) << ranks;
  }
}

// The shortest wire that is cut is the window of all ranks.
TEST(MetisCut, LeavesShortWiresWhole) {
  Case c = first_case_of("conf/experiments/fabric.toml");
  for (auto& link : c.switches.links)
    if (link.b.starts_with("spine_0.") || link.a.starts_with("spine_0.")) link.delay = 100ns;
  const Partition metis = make_partition(c.switches, c.traffic, 2, CutKind::kMetis);
  const Partition blocks = make_partition(c.switches, c.traffic, 2, CutKind::kBlocks);
  EXPECT_LT(blocks.lookahead, 200ns);
  EXPECT_GT(metis.lookahead, 1us);
}

TEST(Ranks, MoreThanThereArePartsAreRefused) {
  const Case c = with_all_traffic();
  EXPECT_EQ(refusal(c, 6, 0), "");
  EXPECT_THAT(refusal(c, 7, 0), HasSubstr("7 ranks, but the case has 6 parts"));
}

TEST(Ranks, AWireWithoutDelayIsNotCut) {
  Case c = with_all_traffic();
  for (auto& link : c.switches.links) link.delay = {};
  EXPECT_EQ(refusal(c, 5, 0), "");
  EXPECT_THAT(refusal(c, 6, 0), HasSubstr("has 5 parts"));
}

TEST(Ranks, TooLittleWorkIsRefusedWithTheNumber) {
  const Case c = with_all_traffic();
  const Partition p = make_partition(c.switches, c.traffic, 2, CutKind::kBlocks);
  const std::uint64_t fewest = std::ranges::min(p.packets_per_window);
  EXPECT_EQ(refusal(c, 2, fewest), "");
  EXPECT_THAT(refusal(c, 2, fewest + 1),
              HasSubstr("at most " + std::to_string(fewest) + " packets in a window of " +
                        std::to_string(p.lookahead.count()) + " ns"));
}

}  // namespace
}  // namespace outrider::ranks_test
