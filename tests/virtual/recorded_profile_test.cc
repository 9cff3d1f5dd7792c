// Goal: a job computes as long in each iteration as its profile recorded, and sends its gradients
// at the recorded steps. Method: the dumbbell without background, a profile in a file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/simulation.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::recorded_profile_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

/// Two tensors of 20 kB; the second one is ready at the first step.
ModelProfile recorded() {
  return {.name = "m",
          .parameters = 10'000,
          .total_bytes = 40'000,
          .source = "test",
          .forward = 10ms,
          .backward = 20ms,
          .forward_measured = {.sequence = {10ms, 20ms, 5ms}},
          .compute_source = ComputeSource::kRecorded,
          .compute_basis = "test",
          .steps = {{1, 5ms, {.sequence = {5ms, 30ms, 10ms}}}, {0, 15ms}},
          .tensors = {{"a", 20'000}, {"b", 20'000}}};
}

TEST(RecordedProfile, EveryIterationComputesAsLongAsRecorded) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("recorded-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << to_toml(recorded());
  Dumbbell d;
  d.background_flows = 0;
  d.workers = 2;
  d.job.schedule = Schedule::kClosedLoop;
  d.job.send_policy = SendPolicyKind::kWfbp;
  d.job.burst_bytes.reset();
  d.job.model = path.string();
  d.job.iterations = 5;
  const auto pool = make_test_pool();
  ImpairedSimulation simulation(d, *pool);
  std::filesystem::remove(path);
  ASSERT_TRUE(simulation.run_to_end(Time{10s}));
  const RunResult r = simulation.result();
  ASSERT_EQ(r.traffic.iterations.size(), 10U);
  const double compute_ms[]{30, 65, 30, 30, 65}, first_ms[]{15, 50, 15, 15, 50};
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  constexpr double kRounding_ms = 1e-5;
  for (const IterationRecord& i : r.traffic.iterations) {
    EXPECT_NEAR(ms(i.ready_ns - i.begin_ns), compute_ms[i.iteration], kRounding_ms) << i.iteration;
    EXPECT_NEAR(ms(i.first_gradient_ns - i.begin_ns), first_ms[i.iteration], kRounding_ms)
        << i.iteration;
  }
  for (const BurstRecord& b : r.traffic.bursts) {
    if (b.identity.direction != BurstDirection::kPush) continue;
    EXPECT_EQ(b.delivered_bytes, 40'000U);
  }
}

}  // namespace
}  // namespace outrider::recorded_profile_test
