// Goal: jobs of several workers and servers go through their iterations as the papers
// describe, and every instant is as planned.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulation.h"
#include "tests/support/source_path.h"
#include "tests/virtual/job_scene.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::jobs_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// In a bulk-synchronous job a pull begins `aggregate` after the slowest push of its server,
// an iteration begins `compute` before its push, and no worker runs ahead.
TEST(Jobs, ClosedLoopIsBulkSynchronous) {
  const Mempool pool = make_test_pool();
  for (const auto reuse :
       {ConnectionReuse::kNew, ConnectionReuse::kIdleRestart, ConnectionReuse::kKeep}) {
    Scene s(closed_loop());
    s.traffic.transports[0].tcp.reuse = reuse;
    const RunResult r = run(s, *pool);
    const auto pushes = bursts_of(r, BurstDirection::kPush),
               pulls = bursts_of(r, BurstDirection::kPull);
    ASSERT_EQ(pushes.size(), 8U);
    ASSERT_EQ(pulls.size(), 8U);
    ASSERT_EQ(r.traffic.iterations.size(), 8U);
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::int64_t slowest = 0;
      for (const auto& b : pushes)
        if (b.identity.iteration == i) slowest = std::max(slowest, b.delivered_ns);
      for (const auto& b : pulls) {
        if (b.identity.iteration != i) continue;
        EXPECT_LE(b.due_ns, slowest + Duration(milliseconds(3)).count());
        EXPECT_GT(b.delivered_ns, slowest + Duration(milliseconds(3)).count());
      }
    }
    for (const auto& it : r.traffic.iterations) {
      const auto& push = pushes[it.iteration * 2 + it.worker];
      const auto& pull = pulls[it.iteration * 2 + it.worker];
      EXPECT_EQ(push.due_ns, it.begin_ns + Duration(milliseconds(20)).count());
      EXPECT_EQ(it.end_ns, pull.delivered_ns);
      EXPECT_GE(push.released_ns, push.due_ns + s.job().announce.lead.count());
      EXPECT_GE(push.first_sent_ns, push.released_ns);
    }
    ASSERT_EQ(r.traffic.flows.size(), 8U);
    for (const auto& f : r.traffic.flows) {
      const bool first_server = f.name.ends_with("s0");
      EXPECT_EQ(f.delivered_bytes, 4U * (first_server ? 50'001U : 50'000U)) << f.name;
    }
    EXPECT_EQ(r.traffic.starts_sent, 16U) << "one to each server";
    EXPECT_EQ(r.traffic.acks_received, 16U);
  }
}

TEST(Jobs, AggregateTimeIsAddedToTheIteration) {
  const Mempool pool = make_test_pool();
  const auto iteration = [&pool](Duration aggregate) {
    Scene s(closed_loop());
    s.job().aggregate = aggregate;
    const RunResult r = run(s, *pool);
    return Duration{r.traffic.iterations[0].end_ns - r.traffic.iterations[0].begin_ns};
  };
  const Duration added = iteration(milliseconds(23)) - iteration(milliseconds(3));
  EXPECT_NEAR(outrider::seconds(added), 0.020, 0.001);
}

// `wait` announces when the gradients are ready and delays the push. `overlap` announces
// earlier by the lead and delays nothing. Without a signal nothing is sent.
TEST(Jobs, OverlapHidesTheLeadThatWaitAdds) {
  const Mempool pool = make_test_pool();
  const auto first_push = [&pool](LeadSource source) {
    Scene s(closed_loop());
    s.job().announce.lead_source = source;
    s.job().announce.lead = milliseconds(10);
    const RunResult r = run(s, *pool);
    EXPECT_EQ(r.traffic.starts_sent, source == LeadSource::kNone ? 0U : 16U);
    return bursts_of(r, BurstDirection::kPush).at(2);  // worker 0, iteration 1
  };
  const Duration lead = milliseconds(10);
  const BurstRecord wait = first_push(LeadSource::kWait);
  EXPECT_EQ(wait.start_sent_ns, wait.due_ns);
  EXPECT_EQ(wait.released_ns, wait.due_ns + lead.count());
  const BurstRecord overlap = first_push(LeadSource::kOverlap);
  EXPECT_EQ(overlap.start_sent_ns, overlap.due_ns - lead.count());
  EXPECT_EQ(overlap.released_ns, overlap.due_ns);
  const BurstRecord none = first_push(LeadSource::kNone);
  EXPECT_EQ(none.start_sent_ns, kNotYet_ns);
  EXPECT_EQ(none.released_ns, none.due_ns);
}

TEST(Jobs, AckTimeoutShorterThanTheRoundTripSendsAnyway) {
  const Mempool pool = make_test_pool();
  Scene s(closed_loop());
  s.job().announce.lead = {};
  s.job().announce.ack_timeout = milliseconds(1);
  const RunResult r = run(s, *pool);
  EXPECT_EQ(r.traffic.ack_timeouts, 8U);
  for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
    EXPECT_TRUE(b.ack_timed_out);
    EXPECT_EQ(b.released_ns, b.due_ns + Duration(milliseconds(1)).count());
    EXPECT_GT(b.ack_received_ns, b.released_ns) << "noted all the same";
  }
}

// 1 MB at 200 Mbit/s takes over 40 ms: a period of 20 ms is always too short,
// one of 500 ms never.
TEST(Jobs, LateIterationsOfATightScheduleAreCounted) {
  const Mempool pool = make_test_pool();
  for (const bool tight : {true, false}) {
    Dumbbell d = closed_loop();
    d.workers = 1;
    d.job.schedule = Schedule::kFixed;
    d.job.compute.reset();
    d.job.pull = false;
    d.job.burst_bytes = 1'000'000;
    d.job.first_due = milliseconds(10);
    d.job.period = tight ? milliseconds(20) : milliseconds(500);
    const Scene s(d);
    const RunResult r = run(s, *pool);
    EXPECT_EQ(r.traffic.late_iterations, tight ? 3U : 0U);
    const auto pushes = bursts_of(r, BurstDirection::kPush);
    ASSERT_EQ(pushes.size(), 4U);
    for (std::size_t i = 1; i < 4; ++i) {
      EXPECT_GE(pushes[i].due_ns, pushes[i - 1].delivered_ns) << "no two bursts at once";
      if (!tight) {
        EXPECT_EQ(pushes[i].due_ns, pushes[0].due_ns + static_cast<std::int64_t>(i) * 500'000'000);
      }
    }
  }
}

// A model gives a job its bytes and its compute time.
TEST(Jobs, ModelProfileDrivesBytesAndCompute) {
  const Mempool pool = make_test_pool();
  const std::string path = source_path("conf/models/resnet50.toml");
  const auto profile = load_model_profile(path);
  ASSERT_TRUE(profile);
  Dumbbell d = closed_loop();
  d.bottleneck = BitRate{10'000'000'000};
  d.host_rate = BitRate{10'000'000'000};
  d.rtt = std::chrono::microseconds(100);
  d.bottleneck_port.queue.limit_packets = 2000;
  d.workers = 1;
  d.job.burst_bytes.reset();
  d.job.model = path;
  d.job.compute.reset();
  d.job.iterations = 1;
  d.job.announce.lead = d.rtt;
  Scene s(d);
  const RunResult r = run(s, *pool);
  const BurstRecord push = bursts_of(r, BurstDirection::kPush).at(0);
  EXPECT_EQ(push.bytes, profile.config->total_bytes);
  EXPECT_EQ(push.due_ns, profile.config->compute()->count());
  std::uint64_t delivered = 0;
  for (const auto& f : r.traffic.flows) delivered += f.delivered_bytes;
  EXPECT_EQ(delivered, 2 * profile.config->total_bytes);
  const double ideal_s = static_cast<double>(push.bytes) * 8 / 10e9;
  EXPECT_GT(Duration{push.delivered_ns - push.first_sent_ns}, from_seconds(ideal_s));
}

// The queue has room. A new connection needs a handshake and starts from the initial
// window; a kept one does neither.
TEST(Jobs, KeptConnectionsAreFasterThanNewOnes) {
  const Mempool pool = make_test_pool();
  const auto last_completion = [&pool](ConnectionReuse reuse) {
    Dumbbell d = closed_loop();
    d.job.compute = milliseconds(400);  // longer than the minimum RTO: idle restart applies
    d.workers = 1;
    d.bottleneck_port.queue.limit_packets = 2000;  // a kept window arrives all at once
    d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
    Scene s(d);
    s.traffic.transports[0].tcp.reuse = reuse;
    const BurstRecord b = bursts_of(run(s, *pool), BurstDirection::kPush).back();
    return Duration{b.delivered_ns - b.released_ns};
  };
  const Duration fresh = last_completion(ConnectionReuse::kNew);
  const Duration restarted = last_completion(ConnectionReuse::kIdleRestart);
  const Duration kept = last_completion(ConnectionReuse::kKeep);
  EXPECT_GT(fresh, restarted + std::chrono::microseconds(3000)) << "one round trip of 3.5 ms";
  EXPECT_GT(restarted, kept);
}

}  // namespace
}  // namespace outrider::jobs_test
