// Goal: servers announce their parameters as workers announce gradients, and what was announced is
// regulated at the queue that leads to the worker.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulation.h"
#include "tests/support/source_path.h"
#include "tests/virtual/job_scene.h"

namespace outrider::announced_pulls_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

constexpr Duration kLead = milliseconds(10);

Scene scene(LeadSource source, Duration aggregate) {
  Scene s(closed_loop());
  s.job().announce.lead_source = source;
  s.job().announce.lead = kLead;
  s.job().announce.pulls = true;
  s.job().aggregate = aggregate;
  return s;
}

/// Returns the port of the trunk that leads to the workers.
SwitchPortConfig& back(Scene& s) {
  return *std::ranges::find(s.switches.switches[1].ports, std::string("trunk"),
                            &SwitchPortConfig::name);
}

// 4 iterations of 2 workers with 2 servers: 16 pushes and 16 pulls, each with its answer.
TEST(AnnouncedPulls, OfTwoServersHaveAStartEach) {
  const Mempool pool = make_test_pool();
  for (const auto reuse : {ConnectionReuse::kNew, ConnectionReuse::kKeep}) {
    Scene s = scene(LeadSource::kOverlap, milliseconds(15));
    s.traffic.transports[0].tcp.reuse = reuse;
    const RunResult r = run(s, *pool);
    EXPECT_TRUE(r.traffic.jobs_finished);
    EXPECT_EQ(r.traffic.starts_sent, 32U);
    EXPECT_EQ(r.traffic.acks_received, 32U);
    EXPECT_EQ(r.traffic.ack_timeouts, 0U);
  }
}

// A server knows of its answer when the last gradient has come.
TEST(AnnouncedPulls, AggregationHidesTheLead) {
  const Mempool pool = make_test_pool();
  const RunResult r = run(scene(LeadSource::kOverlap, milliseconds(15)), *pool);
  const auto pulls = bursts_of(r, BurstDirection::kPull);
  ASSERT_EQ(pulls.size(), 8U);
  for (const BurstRecord& b : pulls) {
    EXPECT_EQ(b.due_ns - b.start_sent_ns, kLead.count());
    EXPECT_EQ(b.released_ns, b.due_ns);
  }
}

TEST(AnnouncedPulls, WaitForTheRestOfTheLead) {
  const Mempool pool = make_test_pool();
  const auto held = [&pool](LeadSource source, Duration aggregate) {
    const RunResult r = run(scene(source, aggregate), *pool);
    const auto pulls = bursts_of(r, BurstDirection::kPull);
    EXPECT_EQ(pulls.size(), 8U);
    EXPECT_EQ(pulls[3].released_ns - pulls[3].start_sent_ns, kLead.count());
    EXPECT_GE(pulls[3].first_sent_ns, pulls[3].released_ns);
    return Duration{pulls[3].released_ns - pulls[3].due_ns};
  };
  EXPECT_EQ(held(LeadSource::kOverlap, milliseconds(4)), milliseconds(6));
  EXPECT_EQ(held(LeadSource::kWait, milliseconds(4)), kLead);
}

// By tensor, the first tensor to be aggregated makes the pull due.
TEST(AnnouncedPulls, ByTensorAreAnnouncedWithTheirFirstTensor) {
  const Mempool pool = make_test_pool();
  for (const bool pulls : {false, true}) {
    Dumbbell d = closed_loop();
    d.host_rate = d.bottleneck = BitRate{3'000'000'000};
    d.bottleneck_port.queue.limit_packets = 2000;
    d.job.burst_bytes.reset();
    d.job.compute.reset();
    d.job.model = source_path("conf/models/resnet50-steps.toml");
    d.job.send_policy = SendPolicyKind::kP3;
    d.job.policy.granularity = Granularity::kTensor;
    d.job.iterations = 2;
    d.job.announce.lead = kLead;
    d.job.announce.pulls = pulls;
    const Scene s(d);
    const RunResult r = run(s, *pool);
    EXPECT_TRUE(r.traffic.jobs_finished);
    EXPECT_EQ(r.traffic.starts_sent, pulls ? 16U : 8U);
    for (const BurstRecord& b : bursts_of(r, BurstDirection::kPull)) {
      EXPECT_EQ(b.delivered_bytes, b.bytes);
      EXPECT_EQ(b.start_sent_ns != kNotYet_ns, pulls);
      EXPECT_EQ(b.released_ns - b.due_ns, pulls ? kLead.count() : 0);
    }
  }
}

TEST(AnnouncedPulls, AreRegulatedOnTheWayBack) {
  const Mempool pool = make_test_pool();
  for (const bool pulls : {false, true}) {
    Scene s = scene(LeadSource::kOverlap, milliseconds(15));
    s.job().announce.pulls = pulls;
    back(s).regulation.mode = RegulationMode::kMark;
    back(s).regulation.recovery = Recovery::kBurstEnd;
    const RunResult r = run(s, *pool);
    const auto queue = std::ranges::find_if(r.switches.queues, [](const QueueReport& q) {
      return q.switch_name == "right" && q.port_name == "trunk";
    });
    ASSERT_NE(queue, r.switches.queues.end());
    EXPECT_EQ(queue->starts_armed, pulls ? 16U : 0U);
    // The run ends with the last pulls, 2 round trips too early for the queue to notice.
    EXPECT_EQ(queue->recovered_burst_end, pulls ? 12U : 0U);
    EXPECT_EQ(queue->entries_left, pulls ? 4U : 0U);
  }
}

// Draws of pulls are their own: a fault of a push is none of the pull.
TEST(AnnouncedPulls, FailAsConfigured) {
  const Mempool pool = make_test_pool();
  Scene s = scene(LeadSource::kWait, milliseconds(3));
  s.job().announce.faults.lost = 0.5;
  s.job().announce.ack_timeout = milliseconds(20);
  s.job().iterations = 20;
  const RunResult r = run(s, *pool);
  EXPECT_TRUE(r.traffic.jobs_finished);
  int different = 0, lost = 0;
  const auto pushes = bursts_of(r, BurstDirection::kPush);
  const auto pulls = bursts_of(r, BurstDirection::kPull);
  ASSERT_EQ(pushes.size(), pulls.size());
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    lost += pulls[i].ack_timed_out ? 1 : 0;
    different += pulls[i].ack_timed_out != pushes[i].ack_timed_out ? 1 : 0;
  }
  EXPECT_GT(lost, 10);
  EXPECT_GT(different, 5);
}

}  // namespace
}  // namespace outrider::announced_pulls_test
