// Goal: R2SP has its intended effects on packets: updates come at nearly constant gaps where
// other rules cluster them, the servers' ingress queue stays shorter than with a barrier, and
// tuned batches make workers of different speed wait equally long. Method: ten seeds each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/virtual/job_scene.h"

namespace outrider::round_robin_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kWorkers = 6;
constexpr std::uint64_t kSeeds = 10;

/// Returns six workers and two servers. Their bottleneck carries a push in about a twelfth of
/// the computing time.
Scene scene_of(Synchronisation rule, std::uint64_t seed) {
  Dumbbell d = closed_loop();
  d.seed = seed;
  d.workers = kWorkers;
  d.bottleneck = BitRate{1'000'000'000};
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  d.rtt = std::chrono::microseconds(200);
  d.job.burst_bytes = 300'000;
  d.job.compute = milliseconds(30);
  d.job.compute_jitter = 0.05;
  d.job.iterations = 40;
  d.job.aggregate = {};
  d.job.announce.lead_source = LeadSource::kNone;
  d.job.synchronisation = rule;
  Scene s(d);
  s.traffic.transports[0].tcp.reuse = ConnectionReuse::kKeep;
  return s;
}

/// First iteration after the warm-up and the rounds that spread the workers.
constexpr std::uint32_t kSettled = 20;

struct Outcome {
  double gap_variation = 0;       ///< standard deviation / mean of the gaps between updates
  double peak_queue_packets = 0;  ///< at the bottleneck
  double iteration_s = 0;
};

/// Returns the outcome of a run. Updates are whole pushes. The last iterations, in which workers
/// end, are left out.
Outcome outcome_of(const RunResult& r) {
  EXPECT_TRUE(r.traffic.jobs_finished);
  std::vector<double> at, took;
  for (const auto& i : r.traffic.iterations) {
    if (i.iteration < kSettled || i.iteration >= 38) continue;
    at.push_back(static_cast<double>(i.pushed_ns));
    took.push_back(static_cast<double>(i.end_ns - i.begin_ns) / 1e9);
  }
  std::ranges::sort(at);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < at.size(); ++i) gaps.push_back(at[i] - at[i - 1]);
  double squares = 0;
  for (const double g : gaps) squares += (g - mean(gaps)) * (g - mean(gaps));
  Outcome out;
  out.gap_variation = std::sqrt(squares / static_cast<double>(gaps.size())) / mean(gaps);
  out.iteration_s = mean(took);
  for (const auto& burst : bottleneck_of(r).bursts)
    if (burst.identity.iteration >= kSettled)
      out.peak_queue_packets =
          std::max(out.peak_queue_packets, static_cast<double>(burst.max_packets));
  return out;
}

class RoundRobinEffect : public testing::Test {
 protected:
  Mempool pool_ = make_test_pool(20'000);
};

std::string shown(const Outcome& o) {
  return std::to_string(o.gap_variation) + " " + std::to_string(o.peak_queue_packets) + " " +
         std::to_string(o.iteration_s * 1e3) + "; ";
}

TEST_F(RoundRobinEffect, UpdatesComeEvenlyAndTheServersQueueStaysShort) {
  double bulk_variation = 0, loose_variation = 0, turns_variation = 0;
  std::string figures;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome bulk = outcome_of(run(scene_of(Synchronisation::kBsp, seed), *pool_)),
                  loose = outcome_of(run(scene_of(Synchronisation::kAsp, seed), *pool_)),
                  turns = outcome_of(run(scene_of(Synchronisation::kR2sp, seed), *pool_));
    EXPECT_LT(turns.gap_variation, bulk.gap_variation) << seed;
    EXPECT_LT(turns.gap_variation, loose.gap_variation) << seed;
    EXPECT_LT(turns.peak_queue_packets, bulk.peak_queue_packets / 10) << seed;
    EXPECT_LT(turns.iteration_s, bulk.iteration_s) << seed;
    bulk_variation += bulk.gap_variation / kSeeds;
    loose_variation += loose.gap_variation / kSeeds;
    turns_variation += turns.gap_variation / kSeeds;
    figures += shown(bulk) + shown(loose) + shown(turns) + "\n";
  }
  RecordProperty("variation_peak_iteration_of_bsp_asp_r2sp", figures);
  EXPECT_LT(turns_variation, bulk_variation / 2);
  EXPECT_LT(turns_variation, loose_variation / 2);
}

/// Returns workers of which the first computes twice as long as the last, those between evenly.
Scene uneven(std::uint64_t seed) {
  Scene s = scene_of(Synchronisation::kR2sp, seed);
  for (std::uint32_t w = 0; w < kWorkers; ++w)
    s.job().compute_factors.push_back(1 + static_cast<double>(kWorkers - 1 - w) / (kWorkers - 1));
  s.job().burst_bytes = 150'000;
  s.job().iterations = 90;
  return s;
}

struct Blocking {
  double spread_s = 0;  ///< longest minus shortest mean hold of a worker
  double mean_s = 0;
  std::uint32_t last_batch = 0;  ///< last batch of the fastest worker
};

/// Measures over iterations after the last growth of batches and before workers end.
Blocking blocking_of(const RunResult& r) {
  EXPECT_TRUE(r.traffic.jobs_finished);
  std::vector<std::vector<double>> holds(kWorkers);
  Blocking out;
  for (const auto& i : r.traffic.iterations) {
    if (i.iteration < 60 || i.iteration >= 85) continue;
    EXPECT_EQ(i.blocked_ns, i.cleared_ns - i.pushed_ns);
    holds.at(i.worker).push_back(static_cast<double>(i.blocked_ns) / 1e9);
    if (i.worker == kWorkers - 1) out.last_batch = i.batch;
  }
  std::vector<double> means;
  means.reserve(holds.size());
  for (const auto& own : holds) means.push_back(mean(own));
  out.spread_s = std::ranges::max(means) - std::ranges::min(means);
  out.mean_s = mean(means);
  return out;
}

TEST_F(RoundRobinEffect, TunedBatchesEvenOutWhatUnevenWorkersAreHeld) {
  std::string figures;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scene s = uneven(seed);
    const Blocking plain = blocking_of(run(s, *pool_));
    s.job().r2sp = {.tune_batch = true, .batch = 256};
    const Blocking tuned = blocking_of(run(s, *pool_));
    figures += std::to_string(plain.spread_s * 1e3) + " " + std::to_string(plain.mean_s * 1e3) +
               " " + std::to_string(tuned.spread_s * 1e3) + " " +
               std::to_string(tuned.mean_s * 1e3) + " " + std::to_string(tuned.last_batch) + "\n";
    EXPECT_LT(tuned.spread_s, plain.spread_s / 2) << seed;
    EXPECT_LT(tuned.mean_s, plain.mean_s / 2) << seed;
    EXPECT_GT(tuned.last_batch, 256U) << seed;
  }
  RecordProperty("spread_mean_plain_tuned_batch", figures);
}

/// Checks from the records of a run of uneven workers when each of them may go on.
TEST_F(RoundRobinEffect, WorkersGoInOrderAGapApart) {
  const RunResult r = run(uneven(1), *pool_);
  std::vector<const IterationRecord*> turns;
  std::int64_t from = 0, to = 0;  // fast workers begin more often
  for (const auto& i : r.traffic.iterations) {
    if (i.worker == 0 && i.iteration == 40) from = i.cleared_ns;
    if (i.worker == 0 && i.iteration == 70) to = i.cleared_ns;
  }
  for (const auto& i : r.traffic.iterations)
    if (i.cleared_ns >= from && i.cleared_ns < to) turns.push_back(&i);
  std::ranges::sort(turns, {}, &IterationRecord::cleared_ns);
  const std::int64_t gap_ns = r.traffic.jobs.at(0).r2sp_gap_ns;
  ASSERT_GT(gap_ns, 0);
  ASSERT_EQ(turns.size(), 30 * kWorkers);
  for (std::size_t i = 1; i < turns.size(); ++i) {
    // The estimate of T still changes a little.
    EXPECT_GT(turns[i]->cleared_ns - turns[i - 1]->cleared_ns, gap_ns * 19 / 20) << i;
    EXPECT_EQ(turns[i]->worker, (turns[i - 1]->worker + 1) % kWorkers) << i;
  }
  const auto& blocked = r.traffic.jobs.at(0).worker_blocked_mean_ns;
  ASSERT_EQ(blocked.size(), kWorkers);
  EXPECT_GT(blocked.back(), blocked.front()) << "the fastest worker is held for longest";
}

/// Workers that end, and a job that is stopped, leave no worker waiting for its turn.
TEST_F(RoundRobinEffect, EveryWorkerEnds) {
  Scene stopped = uneven(2);
  stopped.job().iterations = 1000;
  stopped.job().stop_after = milliseconds(1500);
  Scene without_pull = uneven(2);
  without_pull.job().pull = false;
  Scene one = uneven(2);
  one.job().workers = {"w0"};
  one.job().compute_factors.clear();
  for (const Scene* s : {&stopped, &without_pull, &one}) {
    const RunResult r = run(*s, *pool_);
    EXPECT_TRUE(r.traffic.jobs_finished);
    std::vector<std::uint32_t> done(s->traffic.jobs[0].workers.size());
    for (const auto& i : r.traffic.iterations) ++done.at(i.worker);
    EXPECT_EQ(std::ranges::max(done), std::ranges::min(done));
    EXPECT_GT(done.front(), 10U);
  }
}

}  // namespace
}  // namespace outrider::round_robin_test
