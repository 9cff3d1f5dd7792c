// Goal: what a fabric's links are said to have carried is what the switches' ledger says, over the
// run and in its slices; looking at links changes nothing; and the ranks of a case join to the
// same.
#include "tools/lab/simulation/link_results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "common/telemetry/json_fields.h"
#include "switch/report/report_json.h"
#include "tests/support/simulation.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/ranks/run_ranks.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/report/report_json.h"

namespace outrider::link_results_virtual_test {
using namespace lab;
namespace {

constexpr const char* kRacks = R"(
name = "racks"
question = "?"
seeds = 2
[fabric]
kind = "leaf_spine"
leaves = 3
spines = 2
hosts_per_leaf = 4
host_rate = "10gbit"
host_delay = "1us"
uplink_rate = "10gbit"
uplink_delay = "2us"
[network]
measured = "worst"
[[hosts]]
name = "other"
count = 3
placement = "spread"
[background]
from = "other"
to = "other"
[[job]]
name = "a"
count = 2
workers = 2
placement = "spread"
[parameters]
job.burst_bytes = "300kB"
job.iterations = 3
skip_iterations = 1
warm_up_seconds = 0.002
job.period = "6ms"
background.flows_per_pair = 1
transport.controller = "dctcp"
transport.min_rto = "2ms"
transport.initial_rto = "4ms"
transport.delayed_ack = "500us"
switch.queue.limit_packets = 400
switch.marker.threshold_packets = 60
[[arm]]
label = "off"
)";

std::string text_of(const RunResult& r) { return sw::to_json(r.switches) + tg::to_json(r.traffic); }

std::uint64_t sum_of(const PerClass<std::uint64_t>& by_class) {
  return std::accumulate(by_class.values.begin(), by_class.values.end(), std::uint64_t{});
}

class FabricLinks : public testing::Test {
 protected:
  FabricLinks() {
    const auto cases = plan_of(kRacks);
    EXPECT_EQ(cases.size(), 2U);
    case_ = cases.front();
    EXPECT_TRUE(cases.front().link_series);
    EXPECT_FALSE(cases.back().link_series) << "the second seed";
    EXPECT_TRUE(cases.back().link_results);
  }
  /// Runs the case and takes what is kept.
  CaseRun run() {
    CaseRun r{.definition = &case_, .result = run_virtual(case_, *pool_)};
    whole_ = r.result;
    trim(r);
    return r;
  }
  Case case_;
  RunResult whole_;  ///< the same run with all records
  Mempool pool_ = make_test_pool(buffers_needed(plan_of(kRacks).front()));
};

// The job over RoCEv2 has its protocol for itself.
TEST(ListedJobs, OverTwoProtocolsShareTheQueueOfBursts) {
  const auto cases = plan_of(
      with(with(kRacks, "[parameters]\n",
                "[[job]]\nname = \"roce\"\nworkers = 2\nplacement = \"spread\"\n"
                "transport.protocol = \"roce\"\n"
                "[parameters]\nswitch.scheduler = \"dwrr\"\njob.announce.signal_form = \"udp\"\n"),
           "background.flows_per_pair = 1", "background.flows_per_pair = 0"));
  const Case& c = cases.front();
  const Mempool pool = make_test_pool(buffers_needed(c));
  const RunResult r = run_virtual(c, *pool);
  EXPECT_TRUE(r.traffic.jobs_finished);
  std::uint64_t ddl = 0, others = 0;
  for (const auto& queue : r.switches.queues) {
    (queue.queue == 0 ? ddl : others) += sum_of(queue.transmitted_bytes);
    EXPECT_EQ(queue.transmitted_bytes[TrafficClass::kBackground], 0U);
  }
  EXPECT_GT(ddl, 3U * 3U * 2U * 2U * 300'000U) << "bursts of each worker of each job, both ways";
  EXPECT_LT(others, ddl / 100) << "STARTs alone";
}

TEST_F(FabricLinks, SumsAreThoseOfTheSwitchesLedger) {
  const LinkResults links = *run().result.links;
  ASSERT_TRUE(whole_.switches.ledger_balanced);
  std::uint64_t packets = 0, bytes = 0, marks = 0, queue_bytes = 0, queue_marks = 0;
  for (const auto& link : links.links) {
    packets += link.packets, bytes += link.bytes, marks += link.marks;
    const double capacity_bytes =
        static_cast<double>(link.bits_per_second) / 8e9 * static_cast<double>(links.span_ns);
    const double used = utilisation(link.wire_bytes, link.bits_per_second, links.span_ns);
    EXPECT_NEAR(used * capacity_bytes, static_cast<double>(link.bytes + 24 * link.packets), 0.5);
    EXPECT_LE(used, 1) << link.link;
    EXPECT_EQ(link.watched_ns, whole_.switches.end_ns);
  }
  for (const auto& queue : whole_.switches.queues) {
    queue_bytes += sum_of(queue.transmitted_bytes);
    for (const auto& of_class : queue.marks.values)
      queue_marks = std::accumulate(of_class.begin(), of_class.end(), queue_marks);
  }
  EXPECT_EQ(bytes, queue_bytes);
  EXPECT_EQ(marks, queue_marks);
  EXPECT_GT(marks, 0U);
  EXPECT_GT(packets, 10'000U);
  EXPECT_EQ(links.tiers.size(), 3U);
}

TEST_F(FabricLinks, SlicesSumToTheWholeRun) {
  const LinkResults links = *run().result.links;
  ASSERT_EQ(links.series.size(), links.links.size());
  for (std::size_t i = 0; i < links.series.size(); ++i) {
    const LinkSeries& series = links.series[i];
    EXPECT_EQ(series.link, links.links[i].link);
    EXPECT_EQ(std::accumulate(series.wire_bytes.begin(), series.wire_bytes.end(), std::uint64_t{}),
              links.links[i].wire_bytes);
    const auto slices = static_cast<std::int64_t>(series.wire_bytes.size());
    EXPECT_GE(slices * links.slice_ns, links.span_ns);
    EXPECT_LT((slices - 1) * links.slice_ns, links.span_ns);
    EXPECT_GE(slices, 64);
    EXPECT_LE(slices, 128);
    EXPECT_EQ(links.slice_ns, 20 * case_.base_rtt.count()) << "two of 10 RTTs became one";
    // A frame is counted when it begins, so a slice may have one that ends in the next.
    for (const std::uint64_t bytes : series.wire_bytes)
      EXPECT_LE(utilisation(bytes, series.bits_per_second, links.slice_ns), 1.02) << series.link;
  }
}

TEST_F(FabricLinks, LookingChangesNothing) {
  static_cast<void>(run());
  const std::string seen = text_of(whole_);
  case_.link_series = case_.link_results = false;
  EXPECT_EQ(text_of(run_virtual(case_, *pool_)), seen);
}

TEST_F(FabricLinks, RanksJoinToTheSame) {
  const CaseRun whole = run();
  ASSERT_TRUE(whole.result.links);
  const std::string links = to_json_value(*whole.result.links).dump();
  EXPECT_NE(links.find("\"slice_ns\""), links.npos);
  const std::string one = serialize(whole);
  for (const auto cut : {CutKind::kBlocks, CutKind::kTurns})
    for (std::uint32_t n = 2; n <= 4; ++n) {
      const Partition partition = make_partition(case_.switches, case_.traffic, n, cut);
      CaseRun joined{.definition = &case_,
                     .result = run_in_turns(case_, partition, make_rank_pools(case_, partition))};
      trim(joined);
      EXPECT_TRUE(serialize(joined) == one) << n << " ranks";
    }
}

TEST_F(FabricLinks, AStoredRunHasThem) {
  const CaseRun before = run();
  const CaseRun after = deserialize(case_, serialize(before));
  ASSERT_TRUE(after.result.links);
  EXPECT_EQ(to_json_value(*after.result.links), to_json_value(*before.result.links));
  EXPECT_FALSE(after.result.links->jobs.empty());
  EXPECT_TRUE(after.result.slices.sent.empty());
}

// Where one port is measured, only that one has records; all have counters.
TEST_F(FabricLinks, WithoutRecordsThereAreStillCounts) {
  case_ = plan_of(with(kRacks, "\"worst\"", "\"leaf_0.to_spine_1\"")).front();
  const LinkResults links = *run().result.links;
  std::set<std::string> recorded;
  for (const auto& link : links.links)
    if (link.watched_ns != 0) recorded.insert(link.link);
  EXPECT_EQ(recorded, std::set<std::string>{"leaf_0.to_spine_1"});
  EXPECT_TRUE(std::ranges::any_of(
      links.links, [](const auto& l) { return l.watched_ns == 0 && l.packets > 0; }));
}

}  // namespace
}  // namespace outrider::link_results_virtual_test
