// Goal: wait-free back-propagation overlaps the push with the backward pass, moves
// the same bytes, and ends sooner.
#include <gtest/gtest.h>

#include "tests/support/source_path.h"
#include "tests/virtual/job_scene.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::send_policy_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

TEST(SendPolicy, WaitFreeBackPropagationOverlapsThePushWithTheBackwardPass) {
  const Mempool pool = make_test_pool(20'000);
  const std::string path = source_path("conf/models/resnet32-cifar.toml");
  const auto profile = load_model_profile(path);
  ASSERT_TRUE(profile);
  for (const auto reuse : {ConnectionReuse::kKeep, ConnectionReuse::kNew}) {
    const auto run_with = [&](SendPolicyKind kind) {
      Dumbbell d = closed_loop();
      d.bottleneck = BitRate{1'000'000'000};
      d.bottleneck_port.queue.limit_packets = 5000;
      d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
      d.workers = 1;
      d.job.burst_bytes.reset();
      d.job.model = path;
      d.job.compute = milliseconds(60);
      d.job.announce = {.lead_source = LeadSource::kWait, .lead = milliseconds(5)};
      d.job.send_policy = kind;
      Scene s(d);
      s.traffic.transports[0].tcp.reuse = reuse;
      return run(s, *pool);
    };
    const RunResult fifo = run_with(SendPolicyKind::kFifo), wfbp = run_with(SendPolicyKind::kWfbp);
    EXPECT_TRUE(wfbp.traffic.jobs_finished);
    const auto pushes = bursts_of(wfbp, BurstDirection::kPush);
    ASSERT_EQ(pushes.size(), 4U);
    for (const auto& f : wfbp.traffic.flows)
      EXPECT_EQ(f.delivered_bytes, 4 * profile.config->total_bytes / 2) << f.name;
    for (std::size_t i = 0; i < 4; ++i) {
      const IterationRecord& it = wfbp.traffic.iterations[i];
      EXPECT_EQ(it.ready_ns - it.begin_ns, Duration(milliseconds(60)).count());
      // With 95 tensors the first gradient is ready after 1/3 + 2/3/95 of the time.
      EXPECT_NEAR(static_cast<double>(pushes[i].due_ns - it.begin_ns),
                  60e6 * (1.0 / 3 + 2.0 / 3 / 95), 20e3);
      EXPECT_EQ(pushes[i].released_ns, pushes[i].due_ns + Duration(milliseconds(5)).count());
      EXPECT_LT(pushes[i].first_sent_ns, it.ready_ns);
      EXPECT_GT(pushes[i].delivered_ns, it.ready_ns) << "the last gradient leaves last";
    }
    EXPECT_LT(wfbp.traffic.jobs[0].iteration_p50_ns, fifo.traffic.jobs[0].iteration_p50_ns);
  }
}

}  // namespace
}  // namespace outrider::send_policy_test
