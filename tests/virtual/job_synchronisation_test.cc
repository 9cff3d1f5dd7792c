// Goal: bulk, asynchronous and stale-synchronous workers wait for each other as
// their rules say, over real connections and servers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/source_path.h"
#include "tests/virtual/job_scene.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::job_synchronisation_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

/// Returns two workers, of which the second computes five times as long, and a roomy queue.
Scene uneven(Synchronisation rule, std::optional<std::uint32_t> bound = std::nullopt) {
  Dumbbell d = closed_loop();
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  d.job.iterations = 12;
  d.job.compute_factors = {1, 5};
  d.job.synchronisation = rule;
  d.job.staleness_bound = bound;
  return Scene(d);
}

struct Outcome {
  std::array<std::int64_t, 2> end_ns{};   ///< end of each worker's last iteration
  std::array<std::int64_t, 2> wait_ns{};  ///< sum of each worker's waits
  std::array<std::uint32_t, 2> most_stale{};
  std::uint32_t ahead = 0;
};

Outcome outcome_of(const Scene& s, rte_mempool& pool) {
  const RunResult r = run(s, pool);
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_EQ(r.traffic.iterations.size(), 24U);
  Outcome o;
  for (const auto& i : r.traffic.iterations) {
    EXPECT_LE(i.begin_ns, i.ready_ns);
    EXPECT_LT(i.ready_ns, i.pushed_ns);
    EXPECT_LE(i.pushed_ns, i.cleared_ns);
    EXPECT_LE(i.cleared_ns, i.end_ns);
    o.end_ns.at(i.worker) = std::max(o.end_ns.at(i.worker), i.end_ns);
    o.wait_ns.at(i.worker) += i.cleared_ns - i.pushed_ns;
    o.most_stale.at(i.worker) = std::max(o.most_stale.at(i.worker), i.staleness);
    o.ahead = std::max(o.ahead, i.ahead);
  }
  for (const auto& f : r.traffic.flows)
    EXPECT_EQ(f.delivered_bytes, 12U * (f.name.ends_with("s0") ? 50'001U : 50'000U)) << f.name;
  EXPECT_EQ(r.traffic.jobs.at(0).ahead_max, o.ahead);
  EXPECT_EQ(r.traffic.jobs.at(0).iterations, 24U);
  return o;
}

TEST(JobSynchronisation, AFastWorkerWaitsAsItsRuleSays) {
  const Mempool pool = make_test_pool();
  const Outcome bulk = outcome_of(uneven(Synchronisation::kBsp), *pool);
  const Outcome loose = outcome_of(uneven(Synchronisation::kAsp), *pool);
  const Outcome bounded = outcome_of(uneven(Synchronisation::kSsp, 3), *pool);

  EXPECT_NEAR(static_cast<double>(bulk.end_ns[0]), static_cast<double>(bulk.end_ns[1]), 20e6);
  EXPECT_GT(bulk.wait_ns[0], 12 * Duration(milliseconds(75)).count()) << "100 ms against 20 ms";
  EXPECT_EQ(bulk.most_stale, (std::array<std::uint32_t, 2>{0, 0}));
  EXPECT_EQ(bulk.ahead, 0U);

  EXPECT_LT(loose.end_ns[0], bulk.end_ns[0] / 2) << "it does not wait";
  EXPECT_EQ(loose.wait_ns, (std::array<std::int64_t, 2>{0, 0}));
  EXPECT_GE(loose.most_stale[1], 2U) << "the fast one updates while the slow one computes";
  EXPECT_GT(loose.ahead, 3U);

  EXPECT_EQ(bounded.ahead, 3U) << "reaches its bound and keeps it";
  EXPECT_GT(bounded.end_ns[0], loose.end_ns[0]);
  EXPECT_LT(bounded.end_ns[0], bulk.end_ns[0]) << "three iterations less to wait for";
  EXPECT_EQ(bounded.wait_ns[1], 0) << "the slow one never waits";
}

TEST(JobSynchronisation, BoundZeroIsBulkSynchronous) {
  const Mempool pool = make_test_pool();
  const RunResult bulk = run(uneven(Synchronisation::kBsp), *pool),
                  zero = run(uneven(Synchronisation::kSsp, 0), *pool);
  ASSERT_EQ(bulk.traffic.iterations.size(), zero.traffic.iterations.size());
  for (std::size_t i = 0; i < bulk.traffic.iterations.size(); ++i)
    EXPECT_EQ(bulk.traffic.iterations[i].end_ns, zero.traffic.iterations[i].end_ns);
}

// A worker straggles in one iteration. In a bulk-synchronous job all workers lose its
// delay, in an asynchronous job only the straggler.
TEST(JobSynchronisation, WhoPaysForAStraggler) {
  const Mempool pool = make_test_pool();
  const auto ends = [&pool](Synchronisation rule, Duration delay) {
    Scene s = uneven(rule);
    s.traffic.send_jitter = 0;
    s.job().compute_factors = {1, 1.3};
    if (delay > Duration::zero()) s.job().stragglers = {{.workers = {"w1"}, .delay = delay}};
    return outcome_of(s, *pool).end_ns;
  };
  const Duration delay = milliseconds(50);
  const auto bulk = ends(Synchronisation::kBsp, {}), slow_bulk = ends(Synchronisation::kBsp, delay),
             loose = ends(Synchronisation::kAsp, {}),
             slow_loose = ends(Synchronisation::kAsp, delay);
  const double twelve = 12 * 50e6;
  EXPECT_NEAR(static_cast<double>(slow_bulk[0] - bulk[0]), twelve, 0.15 * twelve);
  EXPECT_NEAR(static_cast<double>(slow_loose[0] - loose[0]), 0, 0.1 * twelve);
  EXPECT_NEAR(static_cast<double>(slow_loose[1] - loose[1]), twelve, 0.15 * twelve);
}

TEST(JobSynchronisation, WithoutAPullTheJobHoldsWorkersBack) {
  const Mempool pool = make_test_pool();
  const auto ahead = [&pool](Synchronisation rule, std::optional<std::uint32_t> bound) {
    Scene s = uneven(rule, bound);
    s.job().pull = false;
    const RunResult r = run(s, *pool);
    EXPECT_TRUE(r.traffic.jobs_finished);
    std::uint32_t most = 0;
    for (const auto& i : r.traffic.iterations) {
      EXPECT_EQ(i.cleared_ns, i.end_ns);
      most = std::max(most, i.ahead);
    }
    return most;
  };
  EXPECT_EQ(ahead(Synchronisation::kBsp, {}), 0U);
  EXPECT_EQ(ahead(Synchronisation::kSsp, 2), 2U);
  EXPECT_GT(ahead(Synchronisation::kAsp, {}), 3U);
}

TEST(JobSynchronisation, StopsWhileSomebodyIsAhead) {
  const Mempool pool = make_test_pool();
  for (const auto rule : {Synchronisation::kBsp, Synchronisation::kAsp, Synchronisation::kSsp}) {
    Scene s = uneven(rule);
    if (rule == Synchronisation::kSsp) s.job().staleness_bound = 2;
    s.job().iterations = 1000;
    s.job().stop_after = milliseconds(700);
    const RunResult r = run(s, *pool);
    EXPECT_TRUE(r.traffic.jobs_finished);
    std::array<std::uint32_t, 2> done{};
    for (const auto& i : r.traffic.iterations) ++done.at(i.worker);
    if (rule == Synchronisation::kAsp) EXPECT_GT(done[0], done[1] + 2);
    else EXPECT_EQ(done[0], done[1]);
  }
}

TEST(JobSynchronisation, AJobThatComesAgain) {
  const Mempool pool = make_test_pool();
  Scene s = uneven(Synchronisation::kBsp);
  s.job().compute_jitter = 0.3;
  s.job().iterations = 3;
  s.job().arrivals = {milliseconds(1000), milliseconds(2500)};
  const RunResult r = run(s, *pool);
  ASSERT_EQ(r.traffic.jobs.size(), 3U);
  EXPECT_EQ(r.traffic.jobs[2].name, "job#3");
  EXPECT_EQ(r.traffic.jobs[2].begin_ns, 2'500'000'000);
  EXPECT_EQ(r.traffic.jobs[1].begin_ns, 1'000'000'000);
  EXPECT_NE(r.traffic.jobs[1].compute_mean_ns, r.traffic.jobs[2].compute_mean_ns);
  Scene once = uneven(Synchronisation::kBsp);
  once.job().compute_jitter = 0.3;
  once.job().iterations = 3;
  EXPECT_EQ(run(once, *pool).traffic.jobs[0].compute_mean_ns, r.traffic.jobs[0].compute_mean_ns);
}

TEST(JobSynchronisation, TensorsGoToTheirServers) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = closed_loop();
  d.bottleneck = BitRate{10'000'000'000};
  d.host_rate = BitRate{10'000'000'000};
  d.rtt = std::chrono::microseconds(100);
  d.bottleneck_port.queue.limit_packets = 5000;
  d.job.burst_bytes.reset();
  d.job.model = source_path("conf/models/resnet32-cifar.toml");
  d.job.shard_by = ShardRule::kRoundRobin;
  d.job.iterations = 1;
  const RunResult r = run(Scene(d), *pool);
  std::uint64_t even = 0, odd = 0;
  const auto profile = load_model_profile(*d.job.model);
  for (std::size_t i = 0; i < profile.config->tensors.size(); ++i)
    (i % 2 == 0 ? even : odd) += profile.config->tensors[i].bytes;
  EXPECT_NE(even, odd);
  for (const auto& f : r.traffic.flows)
    EXPECT_EQ(f.delivered_bytes, f.name.ends_with("s0") ? even : odd) << f.name;
}

}  // namespace
}  // namespace outrider::job_synchronisation_test
