// Goal: send policies that wait for acknowledgments work over the bounded-loss transport, where
// a piece is acknowledged when its receiver has enough of it. Under any loss every iteration
// ends with its bound kept, and the order still brings the first layer's parameters early.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/source_path.h"
#include "tests/virtual/mlt_scene.h"

namespace outrider::mlt_policies_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

constexpr Time kLimit = Time{} + std::chrono::seconds(120);
constexpr std::uint64_t kModelBytes = 1'856'616;

Dumbbell resnet32(SendPolicyKind kind, std::uint64_t seed) {
  Dumbbell d = mlt_dumbbell(2);
  d.seed = seed;
  d.background_flows = 1;  // its receiver is the second server
  d.accept_signals = false;
  d.rtt = std::chrono::microseconds(200);
  d.bottleneck = BitRate{1'000'000'000};
  d.job.burst_bytes.reset();
  d.job.compute.reset();
  d.job.model = source_path("conf/models/resnet32-cifar.toml");
  d.job.shard_by = ShardRule::kBalanced;
  d.job.iterations = 4;
  d.job.send_policy = kind;
  d.job.policy.granularity = Granularity::kTensor;
  if (kind == SendPolicyKind::kP3 || kind == SendPolicyKind::kCredit ||
      kind == SendPolicyKind::kProphet)
    d.job.policy.partition_bytes = 50'000;
  if (kind == SendPolicyKind::kCredit || kind == SendPolicyKind::kProphet)
    d.job.policy.credit_bytes = 200'000;
  return d;
}

GeneratorConfig two_servers(const Dumbbell& d, const MltConfig& mlt) {
  GeneratorConfig g = mlt_traffic(d, mlt);
  g.long_flows.clear();
  g.jobs[0].servers = {"s0", "c0"};
  return g;
}

class MltPolicies : public testing::TestWithParam<SendPolicyKind> {
 protected:
  Mempool pool_ = make_test_pool(20'000);
};

// Iterations follow each other at once, so that STOPs of one are lost or late when the next
// begins.
TEST_P(MltPolicies, EveryIterationEndsUnderLoss) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const double tolerance : {0.0, 0.1}) {
      Dumbbell d = resnet32(GetParam(), seed);
      d.job.compute = milliseconds(2);
      const MltConfig mlt{.tolerance_push = tolerance, .probe_timeout = milliseconds(2)};
      ImpairedSimulation simulation(mlt_switches(d), two_servers(d, mlt), *pool_);
      simulation.impair_all({.loss = 0.03, .duplicate = 0.01, .reorder = 0.05}, seed);
      ASSERT_TRUE(simulation.run_to_end(kLimit)) << seed << ' ' << tolerance;
      const RunResult r = simulation.result();
      EXPECT_TRUE(r.traffic.jobs_finished);
      ASSERT_EQ(r.traffic.bursts.size(), 2U * 2 * 4);
      for (const auto& b : r.traffic.bursts) {
        const double bound = b.identity.direction == BurstDirection::kPush ? tolerance : 0;
        EXPECT_GE(static_cast<double>(b.delivered_bytes),
                  (1 - bound) * static_cast<double>(kModelBytes));
      }
      EXPECT_TRUE(simulation.ledger().balanced());
      simulation.flush();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MltPolicies,
                         testing::Values(SendPolicyKind::kWfbp, SendPolicyKind::kP3,
                                         SendPolicyKind::kCredit, SendPolicyKind::kFusion,
                                         SendPolicyKind::kProphet),
                         [](const auto& p) -> std::string {
                           switch (p.param) {
                             case SendPolicyKind::kP3:
                               return "P3";
                             case SendPolicyKind::kCredit:
                               return "Credit";
                             case SendPolicyKind::kFusion:
                               return "Fusion";
                             case SendPolicyKind::kProphet:
                               return "Prophet";
                             default:
                               return "Wfbp";
                           }
                         });

/// Returns the mean time from the last gradient to the first layer's parameters, without the
/// first iteration.
double first_layer_ms(SendPolicyKind kind, rte_mempool& pool) {
  double sum_ms = 0;
  std::uint32_t iterations = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Dumbbell d = resnet32(kind, seed);
    const RunResult r =
        run(mlt_switches(d),
            two_servers(d, {.tolerance_push = 0, .probe_timeout = milliseconds(2)}), pool, kLimit);
    for (const auto& i : r.traffic.iterations) {
      if (i.iteration == 0) continue;
      sum_ms += static_cast<double>(i.first_layer_ns - i.ready_ns) / 1e6;
      ++iterations;
    }
  }
  return sum_ms / iterations;
}

TEST(MltPolicyEffect, UrgentLayersComeFirst) {
  const Mempool pool = make_test_pool(20'000);
  const double wfbp = first_layer_ms(SendPolicyKind::kWfbp, *pool);
  const double p3 = first_layer_ms(SendPolicyKind::kP3, *pool);
  RecordProperty("first_layer_wfbp_p3_ms", std::to_string(wfbp) + ' ' + std::to_string(p3));
  EXPECT_LT(p3, 0.5 * wfbp);
}

}  // namespace
}  // namespace outrider::mlt_policies_test
