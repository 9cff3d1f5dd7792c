// Goal: learning follows from the delivery of packets: one worker at a barrier is sequential
// descent, stale gradients slow learning per gradient, and all results are a function of the
// seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/core/random.h"
#include "tests/support/source_path.h"
#include "tests/virtual/job_scene.h"
#include "trafficgen/learner/learning_problem.h"

namespace outrider::virtual_learner_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

Scene scene_of(Synchronisation rule, std::uint32_t workers, std::uint32_t iterations) {
  Dumbbell d = closed_loop();
  d.workers = workers;
  d.bottleneck = BitRate{1'000'000'000};
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  d.rtt = std::chrono::microseconds(200);
  d.job.compute = milliseconds(10);
  d.job.compute_jitter = 0.1;
  d.job.iterations = iterations;
  d.job.aggregate = {};
  d.job.announce.lead_source = LeadSource::kNone;
  d.job.synchronisation = rule;
  d.job.learner = {.model = LearnerModel::kLogistic,
                   .samples = 400,
                   .batch = 8,
                   .learning_rate = 0.3,
                   .target_loss = 0.5};
  return Scene(d);
}

const LearnerReport& learner_of(const RunResult& r) {
  EXPECT_TRUE(r.traffic.jobs_finished);
  return r.traffic.learners.at(0);
}

std::vector<double> losses_of(const LearnerReport& r) {
  std::vector<double> losses;
  for (const auto& point : r.losses) losses.push_back(point.loss);
  return losses;
}

// The losses of a run over packets equal those of plain descent, bit for bit.
TEST(JobLearner, OneWorkerAtABarrierIsSequentialDescent) {
  const Mempool pool = make_test_pool();
  const Scene s = scene_of(Synchronisation::kBsp, 1, 15);
  const RunResult r = run(s, *pool);
  const LearnerReport& learnt = learner_of(r);

  const LearnerConfig& config = s.traffic.jobs[0].learner;
  const LearningProblem data(config, s.traffic.seed, 0);
  std::vector<double> at(data.start().begin(), data.start().end()), losses{data.loss(at)};
  for (std::uint64_t i = 0; i < 15; ++i) {
    std::vector<double> gradient(at.size(), 0);
    RandomStream draws(s.traffic.seed + (i << 32), 0, RandomPurpose::kLearnerBatch);
    for (std::uint32_t n = 0; n < config.batch; ++n)
      data.add_gradient(at,
                        static_cast<std::uint32_t>((std::uint64_t{draws.next_u32()} * 400) >> 32),
                        1.0 / config.batch, gradient);
    for (std::size_t p = 0; p < at.size(); ++p) at[p] -= config.learning_rate * gradient[p];
    losses.push_back(data.loss(at));
  }
  EXPECT_EQ(losses_of(learnt), losses);
  EXPECT_LT(losses.back(), losses.front());
  for (std::size_t i = 1; i < learnt.losses.size(); ++i)
    EXPECT_EQ(learnt.losses[i].at_ns, r.traffic.iterations.at(i - 1).pushed_ns)
        << "an update is there with the last byte of its push";
}

TEST(JobLearner, IsAFunctionOfItsSeed) {
  const Mempool pool = make_test_pool();
  for (const auto rule : {Synchronisation::kBsp, Synchronisation::kR2sp}) {
    Scene s = scene_of(rule, 3, 15);
    const LearnerReport one = learner_of(run(s, *pool)), same = learner_of(run(s, *pool));
    EXPECT_EQ(losses_of(one), losses_of(same));
    EXPECT_EQ(one.target_ns, same.target_ns);
    s.traffic.seed = 2;
    EXPECT_NE(losses_of(learner_of(run(s, *pool))), losses_of(one));
  }
}

// At a barrier workers wait anyway, so the timing of packets does not change the learning.
TEST(JobLearner, ABarrierLearnsTheSameOverASlowerNetwork) {
  const Mempool pool = make_test_pool();
  Scene s = scene_of(Synchronisation::kBsp, 3, 15);
  const LearnerReport fast = learner_of(run(s, *pool));
  s.job().aggregate = milliseconds(7);
  for (auto& host : s.traffic.hosts) host.rate = BitRate{100'000'000};
  const LearnerReport slow = learner_of(run(s, *pool));
  EXPECT_EQ(losses_of(fast), losses_of(slow));
  EXPECT_EQ(fast.target_gradients, slow.target_gradients);
  EXPECT_GT(slow.target_ns, fast.target_ns);
}

// Counts every gradient of six workers, under every rule.
TEST(JobLearner, CountsEveryGradient) {
  const Mempool pool = make_test_pool();
  for (const auto rule : {Synchronisation::kBsp, Synchronisation::kAsp, Synchronisation::kR2sp}) {
    const LearnerReport r = learner_of(run(scene_of(rule, 6, 15), *pool));
    EXPECT_EQ(r.gradients, 6U * 15);
    EXPECT_EQ(r.samples, 6U * 15 * 8);
    EXPECT_EQ(r.zeroed_values + r.kept_values, 0U) << "TCP delivers all";
    EXPECT_EQ(r.losses.size(), rule == Synchronisation::kBsp ? 16U : 91U);
    EXPECT_EQ(r.losses.back().loss, r.last_loss);
  }
}

// Tensors travel separately, but the learning is the same.
TEST(JobLearner, TensorByTensorIsTheSameBarrier) {
  const Mempool pool = make_test_pool(20'000);
  Scene s = scene_of(Synchronisation::kBsp, 2, 4);
  s.traffic.transports[0].tcp.reuse = ConnectionReuse::kKeep;
  s.job().burst_bytes.reset();
  s.job().model = source_path("conf/models/resnet32-cifar.toml");
  const LearnerReport shards = learner_of(run(s, *pool));
  s.job().send_policy = SendPolicyKind::kWfbp;
  s.job().policy.granularity = Granularity::kTensor;
  EXPECT_EQ(losses_of(learner_of(run(s, *pool))), losses_of(shards));
  EXPECT_EQ(shards.losses.size(), 5U);
}

}  // namespace
}  // namespace outrider::virtual_learner_test
