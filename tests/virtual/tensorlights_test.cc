// Goal: bands at the servers' NIC end jobs sooner than turns and reduce the spread of a job's
// workers. Fixed bands order the jobs; rotation makes them equal. Bands change nothing on a host
// with only one job's server. Method: jobs whose servers share a host push at the same time,
// with and without bands, over ten seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "tests/virtual/job_scene.h"

namespace outrider::virtual_tensorlights_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kWorkers = 4;
constexpr std::uint32_t kJobs = 6;

/// Returns jobs of equal size with one server each, all on host s0.
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

/// Returns hosts that send like Linux, 64 kB of a connection per turn. Time-outs are short compared
/// with an iteration, because a connection that waits for its band shall not also wait for one.
Scene with_offload(TensorLightsMode mode, std::uint64_t seed) {
  Scene s = scene_of(mode, seed);
  for (auto& host : s.traffic.hosts) host.tso_bytes = 64'000;
  for (auto& transport : s.traffic.transports) {
    transport.tcp.min_rto = milliseconds(10);
    transport.tcp.delayed_ack = milliseconds(1);
  }
  return s;
}

/// Returns the same with a server host for each job.
Scene one_server_a_host(TensorLightsMode mode, std::uint64_t seed) {
  Scene s = with_offload(mode, seed);
  for (std::uint32_t j = 1; j < kJobs; ++j) {
    const std::string name = "s" + std::to_string(j);
    s.traffic.jobs[j].servers = {name};
    if (j == 1) continue;  // every scene has this host
    const std::string address = "10.0.3." + std::to_string(j + 1);
    SwitchPortConfig port = s.switches.switches[1].ports[0];
    port.name = name;
    s.switches.switches[1].ports.push_back(port);
    s.switches.switches[1].routes.push_back({address + "/32", name});
    s.traffic.hosts.push_back(
        {.name = name, .address = address, .device = "right", .rate = s.dumbbell.host_rate});
  }
  return s;
}

struct Outcome {
  std::array<double, kJobs> completion_s{};
  double worker_spread_s = 0;  ///< first to last worker with its parameters; mean

  [[nodiscard]] double mean_completion_s() const { return mean(completion_s); }
  [[nodiscard]] double range_s() const {
    return std::ranges::max(completion_s) - std::ranges::min(completion_s);
  }
};

Outcome outcome_of(const RunResult& r) {
  Outcome out;
  for (const auto& it : r.traffic.iterations)
    out.completion_s[it.job] =
        std::max(out.completion_s[it.job], static_cast<double>(it.end_ns) / 1e9);
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::pair<std::int64_t, std::int64_t>> ends;
  for (const auto& b : bursts_of(r, BurstDirection::kPull)) {
    const auto [it, first] =
        ends.try_emplace({b.identity.job, b.identity.iteration}, b.delivered_ns, b.delivered_ns);
    it->second.first = std::min(it->second.first, b.delivered_ns);
    it->second.second = std::max(it->second.second, b.delivered_ns);
  }
  std::vector<double> spreads;
  spreads.reserve(ends.size());
  for (const auto& [key, end] : ends)
    spreads.push_back(static_cast<double>(end.second - end.first) / 1e9);
  out.worker_spread_s = mean(spreads);
  return out;
}

constexpr std::uint64_t kSeeds = 10;
using Outcomes = std::array<Outcome, kSeeds>;

/// Returns the mean over the seeds.
template <class Value>
double mean_of(const Outcomes& outcomes, Value value) {
  std::array<double, kSeeds> values{};
  std::ranges::transform(outcomes, values.begin(), value);
  return mean(values);
}
double completion_s(const Outcomes& o) { return mean_of(o, &Outcome::mean_completion_s); }

class TensorLightsEffect : public testing::Test {
 protected:
  template <class MakeScene>
  Outcomes outcomes_of(MakeScene make_scene, TensorLightsMode mode) {
    Outcomes outcomes;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const RunResult r = run(make_scene(mode, seed), *pool_);
      EXPECT_TRUE(r.traffic.jobs_finished);
      EXPECT_TRUE(r.traffic.ledger_balanced && r.switches.ledger_balanced);
      for (const auto& f : r.traffic.flows) EXPECT_EQ(f.delivered_bytes, 12U * 500'000) << f.name;
      outcomes[seed - 1] = outcome_of(r);
    }
    return outcomes;
  }
  template <class Value>
  void record(const char* name, Value value, const Outcomes& fifo, const Outcomes& one,
              const Outcomes& rotate) {
    std::string text;
    for (const Outcomes* o : {&fifo, &one, &rotate})
      text += (text.empty() ? "" : " ") + std::to_string(value(*o) * 1e3);
    RecordProperty(name, text);
  }
  Mempool pool_ = make_test_pool(40'000);
};

double worker_spread_s(const Outcomes& o) { return mean_of(o, &Outcome::worker_spread_s); }
double range_s(const Outcomes& o) { return mean_of(o, &Outcome::range_s); }

TEST_F(TensorLightsEffect, JobsWithBandsEndSoonerThanJobsThatTakeTurns) {
  const Outcomes fifo = outcomes_of(scene_of, TensorLightsMode::kOff);
  const Outcomes one = outcomes_of(scene_of, TensorLightsMode::kOne);
  const Outcomes rotate = outcomes_of(scene_of, TensorLightsMode::kRotate);
  record("completion_fifo_one_rotate_ms", completion_s, fifo, one, rotate);
  record("range_fifo_one_rotate_ms", range_s, fifo, one, rotate);
  EXPECT_LT(completion_s(one), 0.9 * completion_s(fifo));
  EXPECT_LT(completion_s(rotate), 0.95 * completion_s(fifo));
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_LT(one[seed - 1].mean_completion_s(), fifo[seed - 1].mean_completion_s()) << seed;
  EXPECT_LT(range_s(rotate), 0.8 * range_s(one)) << "rotation is for equality";
}

// Connections that take turns by the segment end together anyway; with turns of 64 kB they do not.
TEST_F(TensorLightsEffect, BandsBringAJobsWorkersTogether) {
  const Outcomes fifo = outcomes_of(with_offload, TensorLightsMode::kOff);
  const Outcomes one = outcomes_of(with_offload, TensorLightsMode::kOne);
  const Outcomes rotate = outcomes_of(with_offload, TensorLightsMode::kRotate);
  record("worker_spread_fifo_one_rotate_ms", worker_spread_s, fifo, one, rotate);
  record("completion_with_offload_fifo_one_rotate_ms", completion_s, fifo, one, rotate);
  EXPECT_LT(worker_spread_s(one), 0.8 * worker_spread_s(fifo));
  EXPECT_LT(worker_spread_s(rotate), 0.92 * worker_spread_s(fifo));
  EXPECT_LT(completion_s(one), 0.9 * completion_s(fifo));
}

// Every job has its own band; the first job of the file has the lowest.
TEST_F(TensorLightsEffect, FixedBandsOrderTheJobs) {
  const Outcomes one = outcomes_of(with_offload, TensorLightsMode::kOne);
  const auto job_s = [&](std::uint32_t job) {
    return mean_of(one, [job](const Outcome& o) { return o.completion_s[job]; });
  };
  for (std::uint32_t j = 1; j < kJobs; ++j) EXPECT_GT(job_s(j), 1.05 * job_s(j - 1)) << j;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_GT(one[seed - 1].completion_s.back(), 1.5 * one[seed - 1].completion_s.front()) << seed;
}

TEST_F(TensorLightsEffect, OneServerAHostLeavesNothingToGain) {
  const Outcomes fifo = outcomes_of(one_server_a_host, TensorLightsMode::kOff);
  const Outcomes one = outcomes_of(one_server_a_host, TensorLightsMode::kOne);
  EXPECT_NEAR(completion_s(one) / completion_s(fifo), 1, 0.02);
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
}  // namespace outrider::virtual_tensorlights_test
