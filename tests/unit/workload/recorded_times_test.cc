// Goal: recorded times are played in order or drawn by the seed, and gradients become ready at the
// steps as they were in that iteration.
#include "trafficgen/workload/plan/recorded_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/config/two_tensors.h"
#include "trafficgen/workload/plan/iteration_planner.h"
#include "trafficgen/workload/plan/release_profile.h"

namespace outrider::recorded_times_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// Forward pass 1 ms; backward pass 2 ms, of which tensor "b" takes the first 0.5 ms.
ModelProfile stepped() {
  ModelProfile p = two_tensors();
  p.steps = {{1, 500us}, {0, 1500us}};
  return p;
}

JobConfig two_workers() {
  JobConfig c;
  c.workers = {"a", "b"};
  c.send_policy = SendPolicyKind::kWfbp;
  return c;
}

IterationPlanner planner(const JobConfig& c, const ModelProfile& model, std::uint64_t seed = 1,
                         std::uint32_t first_iteration = 0) {
  return {c,
          {.compute = {.seed = seed,
                       .first_iteration = first_iteration,
                       .base = c.compute.value_or(*model.compute())},
           .pieces = {{1, 0, 8, 0}, {0, 0, 4, 1}},
           .pieces_timed = true,
           .ready_shares = ready_shares(model),
           .forward_share = seconds(*model.forward) / seconds(*model.compute()),
           .recorded = RecordedTimes(model)}};
}

Duration compute_of(const IterationPlanner& p, std::uint32_t worker, std::uint32_t iteration) {
  return p.plan(worker, iteration, Time{}, 1).gradients_ready - Time{};
}

TEST(RecordedTimes, MediansAloneVaryNothing) {
  EXPECT_TRUE(RecordedTimes(stepped()).empty());
  const JobConfig c = two_workers();
  EXPECT_EQ(compute_of(planner(c, stepped()), 1, 5), 3ms);
}

TEST(RecordedTimes, ASequenceIsPlayedInOrderAndAgain) {
  ModelProfile model = stepped();
  model.compute_measured.sequence = {3ms, 6ms, 1500us};
  JobConfig c = two_workers();
  for (const std::uint64_t seed : {1U, 2U}) {
    const IterationPlanner p = planner(c, model, seed);
    for (const std::uint32_t round : {0U, 3U, 300U}) {
      EXPECT_EQ(compute_of(p, 0, round), 3ms);
      EXPECT_EQ(compute_of(p, 1, round + 1), 6ms);
      EXPECT_EQ(compute_of(p, 0, round + 2), 1500us);
    }
  }
  EXPECT_EQ(compute_of(planner(c, model, 1, 4), 0, 0), 6ms) << "a later arrival goes on";
  c.compute = 30ms;
  EXPECT_EQ(compute_of(planner(c, model), 0, 1), 60ms) << "relative to the profile's time";
}

TEST(RecordedTimes, StepsMoveWithinTheBackwardPass) {
  ModelProfile model = stepped();
  model.forward_measured.sequence = {1ms, 4ms};
  model.steps[0].measured.sequence = {500us, 3ms};
  const JobConfig c = two_workers();
  const IterationPlanner p = planner(c, model);
  const auto ready = [&](std::uint32_t iteration, std::size_t piece) {
    return p.ready_at(p.plan(0, iteration, Time{}, 1), piece) - Time{};
  };
  EXPECT_NEAR(seconds(ready(0, 0)), 1.5e-3, 1e-8);
  EXPECT_NEAR(seconds(ready(0, 1)), 3e-3, 1e-8);
  EXPECT_NEAR(seconds(ready(1, 0)), 7e-3, 1e-8) << "4 ms forward, then 3 ms";
  EXPECT_NEAR(seconds(ready(1, 1)), 8.5e-3, 1e-8) << "the last step does not vary";
}

TEST(RecordedTimes, QuantilesAreDrawnBySeedWorkerAndIteration) {
  ModelProfile model = stepped();
  model.compute_measured.quantiles = {1ms, 2ms, 3ms, 11ms};  // a third of the draws in each part
  const JobConfig c = two_workers();
  constexpr std::uint32_t kDraws = 3000;
  const auto draws = [&](std::uint64_t seed, std::uint32_t worker) {
    std::vector<Duration> all;
    const IterationPlanner p = planner(c, model, seed);
    for (std::uint32_t i = 0; i < kDraws; ++i) all.push_back(compute_of(p, worker, i));
    return all;
  };
  const auto first = draws(1, 0);
  EXPECT_EQ(first, draws(1, 0));
  EXPECT_NE(first, draws(2, 0));
  EXPECT_NE(first, draws(1, 1));
  EXPECT_GE(*std::ranges::min_element(first), 1ms);
  EXPECT_LE(*std::ranges::max_element(first), 11ms);
  const auto below = [&](Duration limit) {
    return static_cast<double>(
               std::ranges::count_if(first, [&](Duration d) { return d < limit; })) /
           kDraws;
  };
  EXPECT_NEAR(below(2ms), 1 / 3.0, 0.03);
  EXPECT_NEAR(below(3ms), 2 / 3.0, 0.03);
  EXPECT_NEAR(below(7ms), 5 / 6.0, 0.03) << "uniform between two quantiles";
}

TEST(RecordedTimes, StepsHaveDrawsOfTheirOwn) {
  ModelProfile model = stepped();
  for (auto& step : model.steps) step.measured.quantiles = {1us, 1ms};
  const RecordedTimes times(model);
  double least = 1, most = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const RandomStream draws(i, 0, RandomPurpose::kRecordedTime);
    const double share = times.ready_share(i, draws, 1);
    least = std::min(least, share);
    most = std::max(most, share);
    EXPECT_EQ(times.ready_share(i, draws, 0), 1);
  }
  EXPECT_LT(least, 0.1);
  EXPECT_GT(most, 0.9);
}

}  // namespace
}  // namespace outrider::recorded_times_test
