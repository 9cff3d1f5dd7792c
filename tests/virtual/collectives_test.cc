// Goal: collectives without servers take, over real connections on an idle network, the time of
// their closed formulas, also over RoCEv2, move exactly the bytes of their schedules, survive
// losses, and announce every connection once per iteration.
// Method: workers on one switch, where every worker has a link of its own; 10 MB at 1 Gbit/s, so
// that chunks, and not windows, make the time. The ring has tests of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "tests/virtual/job_scene.h"
#include "tests/virtual/mlt_scene.h"
#include "tests/virtual/roce_scene.h"
#include "trafficgen/roce/path_mtu.h"
#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::collectives_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

constexpr Time kLimit = Time{} + std::chrono::seconds(120);
constexpr std::uint64_t kBytes = 10'000'000;
constexpr Collective kKinds[]{Collective::kHalvingDoubling, Collective::kTree,
                              Collective::kAllToAll, Collective::kPipeline};

Dumbbell without_servers(Dumbbell d, Collective kind, std::uint32_t workers) {
  d.workers = workers;
  d.job.collective = kind;
  d.job.aggregate = {};
  d.job.burst_bytes = kBytes;
  d.job.announce.lead_source = LeadSource::kNone;
  return d;
}

GeneratorConfig traffic_of(const Dumbbell& d) {
  GeneratorConfig g = d.traffic();
  g.jobs[0].servers.clear();
  g.transports[0].tcp.reuse = ConnectionReuse::kKeep;
  return g;
}

/// Returns the bytes that all workers send in an iteration.
std::uint64_t bytes_of(const Dumbbell& d) {
  const std::uint64_t bytes = *d.job.burst_bytes;
  switch (d.job.collective) {
    case Collective::kAllToAll:
      return (d.workers - 1) * bytes;
    case Collective::kHalvingDoubling:
      return 2 * (std::bit_floor(d.workers) - 1) * bytes +
             2 * (d.workers - std::bit_floor(d.workers)) * bytes;
    default:
      return 2 * (d.workers - 1) * bytes;
  }
}

/// Returns the longest of the last iterations [s], in which windows are large.
double longest_s(const RunResult& r, std::uint32_t from_iteration) {
  double longest = 0;
  for (const auto& i : r.traffic.iterations)
    if (i.iteration >= from_iteration)
      longest = std::max(longest, static_cast<double>(i.end_ns - i.ready_ns) / 1e9);
  return longest;
}

/// The two times of which the formulas are sums.
struct Parts {
  double burst_s;    ///< all bytes on a link, with headers
  double latency_s;  ///< one way
};

Parts parts_of(const Dumbbell& d) {
  return {static_cast<double>(kBytes) * 8 / 1e9 * 1538.0 / 1448.0, seconds(d.rtt) / 4};
}

/// Queue pairs that send at the link's rate, whatever is marked.
GeneratorConfig over_roce(const Dumbbell& d) {
  GeneratorConfig g = roce_traffic(
      d,
      {.controller = RoceController::kFixed, .window_packets = 4096, .timeout = milliseconds(20)});
  g.jobs[0].servers.clear();
  return g;
}

void expect_time(const Dumbbell& d, const GeneratorConfig& traffic, double formula_s,
                 rte_mempool& pool) {
  const RunResult r = run(d.switches(), traffic, pool, kLimit);
  const std::string what =
      std::string(name_of(d.job.collective)) + " of " + std::to_string(d.workers);
  ASSERT_TRUE(r.traffic.jobs_finished) << what;
  std::uint64_t delivered = 0;
  for (const auto& f : r.traffic.flows) delivered += f.delivered_bytes;
  EXPECT_EQ(r.traffic.flows.size(), lanes_among(d.job.collective, d.workers)) << what;
  EXPECT_EQ(delivered, d.job.iterations * bytes_of(d)) << what;
  const double took_s = longest_s(r, d.job.iterations - 1);
  testing::Test::RecordProperty(what, std::to_string(took_s / formula_s));
  // Where data flow both ways, the acknowledgments of one way delay the data of the other.
  EXPECT_GT(took_s, formula_s * 0.999) << what;
  EXPECT_LT(took_s, formula_s * 1.03) << what;
}

void expect_time(const Dumbbell& d, double formula_s, rte_mempool& pool) {
  expect_time(d, traffic_of(d), formula_s, pool);
}

TEST(Collectives, HalvingAndDoublingTakesTheTimeOfItsFormula) {
  const Mempool pool = make_test_pool(20'000);
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    const Dumbbell d = without_servers(closed_loop(), Collective::kHalvingDoubling, n);
    const auto [burst_s, latency_s] = parts_of(d);
    const double share = 2.0 * (n - 1) / n;
    expect_time(d, share * burst_s + 2 * std::bit_width(n - 1) * latency_s, *pool);
  }
  // Rank 0 hands over everything, ranks 1 and 2 halve and double, and rank 0 gets everything.
  const Dumbbell d = without_servers(closed_loop(), Collective::kHalvingDoubling, 3);
  const auto [burst_s, latency_s] = parts_of(d);
  expect_time(d, 3 * burst_s + 4 * latency_s, *pool);
}

TEST(Collectives, ATreeTakesTheTimeOfItsFormula) {
  const Mempool pool = make_test_pool(20'000);
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    const Dumbbell d = without_servers(closed_loop(), Collective::kTree, n);
    const auto [burst_s, latency_s] = parts_of(d);
    expect_time(d, 2 * std::bit_width(n - 1) * (burst_s + latency_s), *pool);
  }
}

TEST(Collectives, AllToAllTakesTheTimeOfItsBusiestLink) {
  const Mempool pool = make_test_pool(20'000);
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    const Dumbbell d = without_servers(closed_loop(), Collective::kAllToAll, n);
    const auto [burst_s, latency_s] = parts_of(d);
    expect_time(d, (n - 1.0) / n * burst_s + latency_s, *pool);
  }
  // Of 1 + 1/2 + 1/3 + 1/4 rank 0 gets 12/25 of three others.
  Dumbbell d = without_servers(closed_loop(), Collective::kAllToAll, 4);
  d.job.all_to_all.skew = 1;
  const auto [burst_s, latency_s] = parts_of(d);
  expect_time(d, 3 * 0.48 * burst_s + latency_s, *pool);
}

// No two of these meet at a link, so nothing waits and nothing is lost.
TEST(Collectives, OverRoceTheyTakeTheTimesOfTheirFormulas) {
  const Mempool pool = make_test_pool(40'000);
  constexpr std::uint32_t kWorkers = 4;
  for (const Collective kind :
       {Collective::kHalvingDoubling, Collective::kTree, Collective::kPipeline}) {
    Dumbbell d = without_servers(closed_loop(), kind, kWorkers);
    if (kind == Collective::kPipeline) d.job.pipeline.micro_batches = 1;
    const double burst_s =
        static_cast<double>(kBytes) * 8 / 1e9 * (1024 + kAroundPayloadBytes) / 1024;
    const double latency_s = parts_of(d).latency_s;
    const double formula_s = kind == Collective::kHalvingDoubling ? 1.5 * burst_s + 4 * latency_s
                             : kind == Collective::kTree          ? 4 * (burst_s + latency_s)
                                                                  : 6 * (burst_s + latency_s);
    expect_time(d, over_roce(d), formula_s, *pool);
  }
}

// One micro-batch passes all stages and comes back. With four between two stages, the third leaves
// when the gradients of the first are there: 4 (b + l) + b.
TEST(Collectives, APipelineTakesTheTimeOfItsFormula) {
  const Mempool pool = make_test_pool(20'000);
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    Dumbbell d = without_servers(closed_loop(), Collective::kPipeline, n);
    d.job.pipeline.micro_batches = 1;
    const auto [burst_s, latency_s] = parts_of(d);
    expect_time(d, 2 * (n - 1) * (burst_s + latency_s), *pool);
  }
  Dumbbell d = without_servers(closed_loop(), Collective::kPipeline, 2);
  d.job.pipeline.micro_batches = 4;
  const auto [burst_s, latency_s] = parts_of(d);
  expect_time(d, 4 * (burst_s / 4 + latency_s) + burst_s / 4, *pool);
}

// Computing is shorter than a round trip, so workers are in different iterations at times.
TEST(Collectives, SurviveLossesAndReordering) {
  const Mempool pool = make_test_pool(20'000);
  for (const Collective kind : kKinds)
    for (const std::uint32_t n : {4U, 5U}) {
      Dumbbell d = without_servers(closed_loop(), kind, n);
      d.job.burst_bytes = 300'001;
      d.job.compute = std::chrono::microseconds(1);
      ImpairedSimulation simulation(d.switches(), traffic_of(d), *pool);
      simulation.impair_all({.loss = 0.02, .duplicate = 0.01, .reorder = 0.05}, 3);
      ASSERT_TRUE(simulation.run_to_end(kLimit)) << name_of(kind) << n;
      const RunResult r = simulation.result();
      EXPECT_TRUE(r.traffic.jobs_finished);
      std::uint64_t delivered = 0, retransmitted = 0;
      for (const auto& f : r.traffic.flows) {
        delivered += f.delivered_bytes;
        retransmitted += f.retransmitted;
      }
      EXPECT_EQ(delivered, d.job.iterations * bytes_of(d)) << name_of(kind) << n;
      EXPECT_GT(retransmitted, 0U);
      EXPECT_EQ(bursts_of(r, BurstDirection::kPush).size(), std::size_t{d.job.iterations} * n);
      EXPECT_TRUE(simulation.ledger().balanced());
      EXPECT_TRUE(r.traffic.ledger_balanced);
      simulation.flush();
    }
}

// Over the bounded-loss transport, all-reduces miss at most what their messages may.
TEST(Collectives, AllReducesKeepTheBoundOfEveryMessage) {
  const Mempool pool = make_test_pool(20'000);
  for (const Collective kind : {Collective::kHalvingDoubling, Collective::kTree})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Dumbbell d = without_servers(mlt_dumbbell(4), kind, 4);
      d.seed = seed;
      d.job.burst_bytes = 240'000;
      d.job.compute = std::chrono::microseconds(1);
      GeneratorConfig g = mlt_traffic(
          d, {.tolerance_push = 0.2, .tolerance_pull = 0.05, .probe_timeout = milliseconds(2)});
      g.jobs[0].servers.clear();
      ImpairedSimulation simulation(mlt_switches(d), g, *pool);
      simulation.impair_all({.loss = 0.1, .duplicate = 0.02, .reorder = 0.05, .ce = 0.05}, seed);
      ASSERT_TRUE(simulation.run_to_end(kLimit)) << name_of(kind) << seed;
      const RunResult r = simulation.result();
      EXPECT_TRUE(r.traffic.jobs_finished);
      std::uint64_t missing = 0;
      for (const auto& b : r.traffic.bursts) {
        EXPECT_GE(static_cast<double>(b.delivered_bytes), 0.8 * static_cast<double>(b.bytes));
        missing += b.bytes - b.delivered_bytes;
      }
      EXPECT_GT(missing, 0U) << "something was done without";
      EXPECT_TRUE(simulation.ledger().balanced());
      simulation.flush();
    }
}

// Nothing of a worker leaves before the answers to all its STARTs.
TEST(Collectives, AnnounceEveryConnectionOncePerIteration) {
  const Mempool pool = make_test_pool(20'000);
  for (const Collective kind : kKinds) {
    Dumbbell d = without_servers(closed_loop(), kind, 4);
    d.job.burst_bytes = 400'000;
    d.job.announce = {.lead_source = LeadSource::kWait, .lead = milliseconds(5)};
    const RunResult r = run(d.switches(), traffic_of(d), *pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    EXPECT_EQ(r.traffic.starts_sent, d.job.iterations * lanes_among(kind, 4)) << name_of(kind);
    EXPECT_EQ(r.traffic.acks_received, r.traffic.starts_sent);
    for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
      EXPECT_EQ(b.released_ns, b.due_ns + Duration(milliseconds(5)).count());
      EXPECT_GE(b.first_sent_ns, b.released_ns);
    }
  }
}

// A stage's own rank is late: everybody is, because an iteration ends with all messages.
TEST(Collectives, ALateWorkerHoldsEverybodyBack) {
  const Mempool pool = make_test_pool(20'000);
  for (const Collective kind : kKinds) {
    Dumbbell d = without_servers(closed_loop(), kind, 4);
    d.job.burst_bytes = 400'000;
    const RunResult even = run(d.switches(), traffic_of(d), *pool, kLimit);
    d.job.stragglers = {{.workers = {"w2"}, .delay = milliseconds(100)}};
    const RunResult late = run(d.switches(), traffic_of(d), *pool, kLimit);
    EXPECT_NEAR(
        static_cast<double>(late.traffic.jobs.at(0).end_ns - even.traffic.jobs.at(0).end_ns),
        4 * 100e6, 60e6)
        << name_of(kind);
  }
}

}  // namespace
}  // namespace outrider::collectives_test
