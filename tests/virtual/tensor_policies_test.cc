// Goal: send policies have their expected gains when servers answer tensor by tensor.
// Method: ResNet-50 with the published steps of its backward pass, two workers, one server, a
// bottleneck of 3 Gbit/s, frames of 9000 B (fewer events), ten seeds that vary compute times.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/source_path.h"
#include "tests/virtual/job_scene.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::tensor_policies_test {
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;

constexpr std::uint64_t kModel_bytes = 102'228'128;
constexpr std::uint32_t kIterations = 3;  // Prophet profiles during the first one

Dumbbell resnet50(SendPolicyKind kind, std::uint64_t seed) {
  Dumbbell d = closed_loop();
  d.workers = 2;
  d.seed = seed;
  d.rtt = microseconds(100);
  d.host_rate = d.bottleneck = BitRate{3'000'000'000};
  d.bottleneck_port.queue.limit_packets = 500;
  d.ddl_tcp.reuse = ConnectionReuse::kKeep;
  d.ddl_tcp.delayed_ack = microseconds(100);
  d.job.compute_jitter = 0.05;
  d.job.burst_bytes.reset();
  d.job.model = source_path("conf/models/resnet50-steps.toml");
  d.job.compute.reset();
  d.job.aggregate = {};
  d.job.announce.lead_source = LeadSource::kNone;
  d.job.iterations = kIterations;
  d.job.send_policy = kind;
  PolicyConfig& policy = d.job.policy;
  if (kind != SendPolicyKind::kFifo) policy.granularity = Granularity::kTensor;
  if (kind == SendPolicyKind::kCredit || kind == SendPolicyKind::kProphet) {
    policy.partition_bytes = 1'000'000;
    policy.credit_bytes = 4'000'000;
  }
  return d;
}

struct Means {
  double iteration_ms = 0;
  double first_layer_ms = 0;
  double send_idle = 0;
};

/// Returns means over all workers' iterations after the first, and checks each iteration.
Means means_of(const RunResult& r, bool by_tensor) {
  Means m;
  double idle_ms = 0, communication_ms = 0;
  std::map<std::uint32_t, IterationRecord> before;
  for (const IterationRecord& i : r.traffic.iterations) {
    EXPECT_LE(i.first_gradient_ns, i.ready_ns);
    EXPECT_LE(i.first_layer_ns, i.parameters_ns);
    const bool last = i.iteration + 1 == kIterations;
    EXPECT_EQ(i.end_ns, by_tensor && !last ? i.first_layer_ns : i.parameters_ns);
    if (i.iteration > 0) {
      EXPECT_EQ(i.begin_ns, before[i.worker].first_layer_ns);
      EXPECT_GE(i.first_gradient_ns, before[i.worker].parameters_ns) << "the pass needs them all";
      m.iteration_ms += static_cast<double>(i.parameters_ns - before[i.worker].parameters_ns) / 1e6;
      m.first_layer_ms += static_cast<double>(i.first_layer_ns - i.ready_ns) / 1e6;
      communication_ms += static_cast<double>(i.parameters_ns - i.first_gradient_ns) / 1e6;
      idle_ms +=
          static_cast<double>(i.parameters_ns - i.first_gradient_ns - i.nic_sending_ns) / 1e6;
    }
    before[i.worker] = i;
  }
  const double n = 2.0 * (kIterations - 1);
  m.iteration_ms /= n;
  m.first_layer_ms /= n;
  m.send_idle = idle_ms / communication_ms;
  return m;
}

Means run_with(SendPolicyKind kind, std::uint64_t seed, rte_mempool& pool) {
  const Dumbbell d = resnet50(kind, seed);
  GeneratorConfig traffic = d.traffic();
  for (auto& host : traffic.hosts) host.mtu_bytes = 9000;
  const RunResult r = run(d.switches(), traffic, pool, Time{} + std::chrono::seconds(60));
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_TRUE(r.traffic.ledger_balanced);
  EXPECT_EQ(r.traffic.bursts.size(), 4U * kIterations);
  for (const auto& b : r.traffic.bursts) EXPECT_NE(b.delivered_ns, kNotYet_ns);
  for (const auto& f : r.traffic.flows)
    EXPECT_EQ(f.delivered_bytes, kIterations * kModel_bytes) << f.name;
  return means_of(r, d.job.policy.granularity == Granularity::kTensor);
}

TEST(TensorPoliciesEffect, FirstLayerAndIdleNic) {
  const Mempool pool = make_test_pool(20'000);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const Means fifo = run_with(SendPolicyKind::kFifo, seed, *pool);
    const Means wfbp = run_with(SendPolicyKind::kWfbp, seed, *pool);
    const Means p3 = run_with(SendPolicyKind::kP3, seed, *pool);
    // In P3 the first layer's parameters take one partition and one answer.
    EXPECT_LT(p3.first_layer_ms, 0.1 * fifo.first_layer_ms);
    EXPECT_LT(p3.first_layer_ms, 0.1 * wfbp.first_layer_ms);
    EXPECT_LT(wfbp.send_idle, 0.9 * fifo.send_idle);
    EXPECT_LT(wfbp.iteration_ms, 0.7 * fifo.iteration_ms);
    EXPECT_LT(p3.iteration_ms, wfbp.iteration_ms);
  }
}

TEST(TensorPoliciesEffect, ProphetAgainstWfbpAndCredit) {
  const Mempool pool = make_test_pool(20'000);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const Means wfbp = run_with(SendPolicyKind::kWfbp, seed, *pool);
    const Means credit = run_with(SendPolicyKind::kCredit, seed, *pool);
    const Means prophet = run_with(SendPolicyKind::kProphet, seed, *pool);
    EXPECT_LT(prophet.first_layer_ms, 0.5 * wfbp.first_layer_ms);
    EXPECT_LT(credit.first_layer_ms, 0.5 * wfbp.first_layer_ms);
    EXPECT_LT(prophet.iteration_ms, wfbp.iteration_ms);
    EXPECT_LT(credit.iteration_ms, wfbp.iteration_ms);
  }
}

TEST(TensorPolicies, FusionMovesTheSameBytes) {
  const Mempool pool = make_test_pool(20'000);
  const Means fusion = run_with(SendPolicyKind::kFusion, 1, *pool);
  EXPECT_GT(fusion.first_layer_ms, 0);
}

}  // namespace
}  // namespace outrider::tensor_policies_test
