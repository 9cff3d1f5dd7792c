// Goal: a case that is cut across ranks gives the reports of one rank, byte for byte, however it is
// cut. Method: all ranks in one process, in turn; reports are compared as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "switch/report/report_json.h"
#include "tests/support/source_path.h"
#include "tests/support/world.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/ranks/run_ranks.h"
#include "tools/lab/run/run_virtual.h"
#include "trafficgen/report/report_json.h"

namespace outrider::ranks_test {
using namespace lab;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string text_of(const RunResult& r) {
  return sw::to_json(r.switches) + tg::to_json(r.traffic) + std::to_string(r.mbufs_leaked);
}

/// Compares a case on one rank with the same on up to `ranks`.
void expect_equal(const Case& c, std::uint32_t ranks) {
  const Mempool pool = make_test_pool(buffers_needed(c));
  const std::string whole = text_of(run_virtual(c, *pool));
  for (const auto& [kind, name] :
       {std::pair(CutKind::kBlocks, "blocks"), std::pair(CutKind::kTurns, "turns")}) {
    for (std::uint32_t n = 1; n <= ranks; ++n) {
      const Partition partition = make_partition(c.switches, c.traffic, n, kind);
      EXPECT_EQ(partition.cuts.empty(), n == 1);
      const RunResult joined = run_in_turns(c, partition, *pool);
      EXPECT_TRUE(joined.switches.ledger_balanced) << name << ' ' << n;
      EXPECT_TRUE(joined.traffic.ledger_balanced) << name << ' ' << n;
      EXPECT_TRUE(text_of(joined) == whole) << c.label << " on " << n << " ranks, in " << name;
    }
  }
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

TEST(Ranks, ASprayedLeafSpineIsTheSameOnFour) {
  const auto file = load_experiment(source_path("conf/experiments/dlcp-spine.toml"));
  const auto cases =
      make_plan(file.config.value(), {.arms = {"off-mlt-1-sprayed"}, .quick = true}).config.value();
  expect_equal(cases.back(), 4);
}

// Between two ranks nothing arrives within the window in which it left, so a window may not be
// longer than the shortest cut wire says.
TEST(Ranks, ALongerWindowThanTheCutAllowsIsNoticed) {
  const Case c = with_all_traffic();
  const Mempool pool = make_test_pool(buffers_needed(c));
  Partition partition = make_partition(c.switches, c.traffic, 2, CutKind::kTurns);
  partition.lookahead *= 20;
  EXPECT_THROW(run_in_turns(c, partition, *pool), std::runtime_error);
  EXPECT_EQ(rte_mempool_in_use_count(pool.get()), 0U);
}

std::string refusal(const Case& c, std::uint32_t ranks, std::uint64_t least_work) {
  try {
    check_work(make_partition(c.switches, c.traffic, ranks, CutKind::kBlocks), least_work);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
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
