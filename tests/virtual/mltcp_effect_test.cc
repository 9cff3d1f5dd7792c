// Goal: jobs that start together on one link slide apart with MLTCP, so that their iterations last
// about as long as alone; without it they meet in one iteration after the other. Method: two jobs
// that compute as long as they push, and three that compute twice as long, over Reno, CUBIC and
// DCQCN, in virtual time; one seed. With another one, jobs over DCQCN may come apart by chance
// without MLTCP, or meet again with it.
// Source: Rajasekaran et al., MLTCP, arXiv 2402.09589.
#include <gtest/gtest.h>

#include <string>

#include "tests/virtual/roce_scene.h"

namespace outrider::mltcp_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kPush = milliseconds(50);  ///< of an empty link
constexpr std::uint32_t kIterations = 24;
constexpr std::uint32_t kApart = 12;  ///< iterations after which jobs have slid apart

/// A way in which bursts are carried.
struct Way {
  const char* name;
  TransportProtocol protocol;
  Controller controller;
};
constexpr Way kWays[] = {{"reno", TransportProtocol::kTcp, Controller::kReno},
                         {"cubic", TransportProtocol::kTcp, Controller::kCubic},
                         {"dcqcn", TransportProtocol::kRoce, Controller::kCubic}};

Dumbbell dumbbell_of(std::uint32_t jobs, std::uint64_t seed) {
  Dumbbell d = closed_loop();
  d.seed = seed;
  d.workers = jobs;
  d.bottleneck = d.host_rate = BitRate{1'000'000'000};
  d.rtt = microseconds(100);
  d.bottleneck_port.queue.limit_packets = 100;
  d.bottleneck_port.marker.threshold_packets = 20;
  d.job.burst_bytes = 6'000'000;
  d.job.pull = false;
  d.job.aggregate = {};
  d.job.compute = kPush * (jobs - 1);
  d.job.compute_jitter = 0.01;
  d.job.iterations = kIterations;
  d.job.announce.lead_source = LeadSource::kNone;
  return d;
}

/// Returns jobs that each have a worker of their own.
GeneratorConfig traffic_of(const Dumbbell& d, const Way& way, bool mltcp) {
  GeneratorConfig g = d.traffic();
  TransportConfig& transport = g.transports[0];
  transport.protocol = way.protocol;
  transport.tcp = {};
  transport.tcp.mltcp = mltcp;
  if (way.protocol == TransportProtocol::kTcp) {
    transport.tcp.control.controller = way.controller;
    transport.tcp.reuse = ConnectionReuse::kKeep;
    transport.tcp.min_rto = milliseconds(10);
    transport.tcp.delayed_ack = milliseconds(1);
  }
  for (std::uint32_t j = 0; j < d.workers; ++j) {
    JobConfig job = d.traffic().jobs[0];
    job.name = "job" + std::to_string(j);
    job.workers = {"w" + std::to_string(j)};
    job.tcp_port = static_cast<std::uint16_t>(5000 + j);
    if (j == 0) g.jobs[0] = job;
    else g.jobs.push_back(job);
  }
  return g;
}

/// Returns how long the last iterations last in the mean, as a multiple of those of one job alone
/// on an empty link.
double over_alone(std::uint32_t jobs, const Way& way, bool mltcp, rte_mempool& pool) {
  const Dumbbell d = dumbbell_of(jobs, 2);
  const RunResult r =
      run(d.switches(), traffic_of(d, way, mltcp), pool, Time{} + std::chrono::seconds(60));
  EXPECT_TRUE(r.traffic.jobs_finished);
  Duration sum{};
  int count = 0;
  for (const auto& iteration : r.traffic.iterations) {
    if (iteration.iteration < kApart) continue;
    sum += Duration{iteration.end_ns - iteration.begin_ns};
    ++count;
  }
  EXPECT_EQ(count, static_cast<int>(jobs * (kIterations - kApart)));
  return seconds(sum) / count / seconds(kPush * jobs);
}

TEST(MltcpEffect, JobsThatStartTogetherSlideApart) {
  const Mempool pool = make_test_pool(20'000);
  for (const Way& way : kWays)
    for (const std::uint32_t jobs : {2U, 3U}) {
      const double with = over_alone(jobs, way, true, *pool);
      const double without = over_alone(jobs, way, false, *pool);
      EXPECT_LT(with, 1.15) << way.name << ' ' << jobs;
      EXPECT_GT(without, with + 0.15) << way.name << ' ' << jobs;
    }
}

// One job has nothing to slide away from, and pays nothing.
TEST(MltcpEffect, AJobAloneIsAsQuick) {
  const Mempool pool = make_test_pool(20'000);
  for (const Way& way : kWays) {
    Dumbbell d = dumbbell_of(2, 2);
    d.workers = 1;
    d.job.iterations = 4;
    const auto end = [&](bool mltcp) {
      const RunResult r =
          run(d.switches(), traffic_of(d, way, mltcp), *pool, Time{} + std::chrono::seconds(60));
      return seconds(Duration{r.traffic.iterations.back().end_ns});
    };
    EXPECT_NEAR(end(true), end(false), 0.001) << way.name;
  }
}

}  // namespace
}  // namespace outrider::mltcp_effect_test
