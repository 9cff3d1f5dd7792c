// Goal: bands at the servers' NIC end jobs sooner than turns do, and change nothing where
// a host has the server of one job. Method: jobs whose servers share a host push at the same
// time, with and without bands, over ten seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/virtual/job_scene.h"

namespace outrider {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kWorkers = 4;
constexpr std::uint32_t kJobs = 6;

/// Jobs of equal size, one server each, all on host s0.
Scene scene_of(TensorLightsMode mode, std::uint64_t seed) {
  Dumbbell d = closed_loop();
  d.seed = seed;
  d.workers = kWorkers;
  d.bottleneck = BitRate{10'000'000'000};
  d.bottleneck_port.queue.limit_packets = 5000;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  d.rtt = milliseconds(1);
  d.job.burst_bytes = 500'000;
  d.job.compute = milliseconds(10);
  d.job.compute_jitter = 0.1;
  d.job.iterations = 12;
  d.job.aggregate = {};
  d.job.announce.lead_source = LeadSource::kNone;
  Scene s(d);
  s.job().servers = {"s0"};
  for (std::uint32_t j = 1; j < kJobs; ++j) {
    JobConfig job = s.job();
    job.name = "job" + std::to_string(j);
    job.tcp_port = static_cast<std::uint16_t>(5000 + j);
    s.traffic.jobs.push_back(job);
  }
  s.traffic.tensorlights.mode = mode;
  s.traffic.tensorlights.interval = milliseconds(50);
  return s;
}

struct Outcome {
  double mean_completion_s = 0;  ///< of the jobs
  double spread_s = 0;           ///< over jobs: longest less shortest completion
};

Outcome outcome_of(const RunResult& r) {
  Outcome out;
  std::vector<double> completions;
  std::map<std::uint16_t, std::int64_t> ends;
  for (const auto& it : r.traffic.iterations) ends[it.job] = std::max(ends[it.job], it.end_ns);
  completions.reserve(ends.size());
  for (const auto& [job, end] : ends) completions.push_back(static_cast<double>(end) / 1e9);
  for (const double c : completions) out.mean_completion_s += c / static_cast<double>(kJobs);
  out.spread_s = std::ranges::max(completions) - std::ranges::min(completions);
  return out;
}

class TensorLightsEffect : public testing::Test {
 protected:
  /// Mean over ten seeds.
  Outcome mean_of(TensorLightsMode mode) {
    Outcome mean;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const RunResult r = run(scene_of(mode, seed), *pool_);
      EXPECT_TRUE(r.traffic.jobs_finished);
      EXPECT_TRUE(r.traffic.ledger_balanced && r.switches.ledger_balanced);
      for (const auto& f : r.traffic.flows) EXPECT_EQ(f.delivered_bytes, 12U * 500'000) << f.name;
      const Outcome o = outcome_of(r);
      mean.mean_completion_s += o.mean_completion_s / 10;
      mean.spread_s += o.spread_s / 10;
    }
    return mean;
  }
  Mempool pool_ = make_test_pool(40'000);
};

TEST_F(TensorLightsEffect, JobsWithBandsEndSoonerThanJobsThatTakeTurns) {
  const Outcome fifo = mean_of(TensorLightsMode::kOff);
  const Outcome one = mean_of(TensorLightsMode::kOne);
  const Outcome rotate = mean_of(TensorLightsMode::kRotate);
  RecordProperty("completion_fifo_one_rotate_ms",
                 std::to_string(fifo.mean_completion_s * 1e3) + " " +
                     std::to_string(one.mean_completion_s * 1e3) + " " +
                     std::to_string(rotate.mean_completion_s * 1e3));
  RecordProperty("spread_fifo_one_rotate_ms", std::to_string(fifo.spread_s * 1e3) + " " +
                                                  std::to_string(one.spread_s * 1e3) + " " +
                                                  std::to_string(rotate.spread_s * 1e3));
  EXPECT_LT(one.mean_completion_s, fifo.mean_completion_s);
  EXPECT_LT(rotate.mean_completion_s, fifo.mean_completion_s);
  EXPECT_LT(rotate.spread_s, one.spread_s) << "rotation is for equality";
}

TEST_F(TensorLightsEffect, ASoleJobAtAHostGainsNothing) {
  const auto alone = [&](TensorLightsMode mode) {
    Scene s = scene_of(mode, 1);
    s.traffic.jobs.resize(1);
    return run(s, *pool_);
  };
  const RunResult off = alone(TensorLightsMode::kOff), one = alone(TensorLightsMode::kOne);
  ASSERT_EQ(off.traffic.iterations.size(), one.traffic.iterations.size());
  for (std::size_t i = 0; i < off.traffic.iterations.size(); ++i)
    EXPECT_EQ(off.traffic.iterations[i].end_ns, one.traffic.iterations[i].end_ns) << i;
}

}  // namespace
}  // namespace outrider
