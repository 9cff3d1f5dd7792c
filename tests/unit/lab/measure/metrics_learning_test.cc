// Goal: figures of waiting, updates and learning follow from the records as defined.
// Method: records made by hand, figures computed by hand.
#include "tools/lab/measure/metrics_learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/lab/measure/metrics_fixture.h"

namespace outrider::metrics_learning_test {
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;
using testing::DoubleNear;
using testing::ElementsAre;

struct Times {  // [ms]
  double begin, pushed, cleared, end;
};

void add_iteration(RunResult& r, std::uint16_t worker, std::uint32_t iteration, Times t,
                   std::uint32_t staleness = 0) {
  IterationRecord record;
  record.worker = worker;
  record.iteration = iteration;
  record.begin_ns = at_ms(t.begin);
  record.pushed_ns = at_ms(t.pushed);
  record.cleared_ns = at_ms(t.cleared);
  record.end_ns = at_ms(t.end);
  record.staleness = staleness;
  r.traffic.iterations.push_back(record);
}

/// Returns a run in which worker 0 pushes at 2, 10, 20, 30 ms and worker 1 at 4, 14, 25 ms.
/// Iteration 0 is skipped.
RunResult two_workers() {
  RunResult r = make_result(40);
  add_iteration(r, 0, 0, {0, 2, 3, 4}, 9);
  add_iteration(r, 0, 1, {4, 10, 11, 12}, 1);
  add_iteration(r, 0, 2, {12, 20, 21, 22}, 1);
  add_iteration(r, 0, 3, {22, 30, 31, 33}, 3);
  add_iteration(r, 1, 0, {0, 4, 4, 5});
  add_iteration(r, 1, 1, {5, 14, 18, 19}, 2);
  add_iteration(r, 1, 2, {19, 25, 27, 28}, 1);
  return r;
}

Case skipping_one() {
  Case c = make_case("off");
  c.skip_iterations = 1;
  return c;
}

TEST(LearningMetrics, OfUpdatesAndWaits) {
  const LearningMetrics m = measure_learning(skipping_one(), two_workers().traffic, {});
  EXPECT_THAT(m.worker_iteration_seconds.values(), ElementsAre(0.008, 0.010, 0.011, 0.014, 0.009));
  EXPECT_THAT(m.wait_seconds.values(), ElementsAre(0.001, 0.001, 0.001, 0.004, 0.002));
  EXPECT_DOUBLE_EQ(m.wait_spread_seconds, 0.002) << "3 ms less 1 ms, means of the workers";
  // Both are past iteration 0 from 14 ms on, and worker 1 ends at 25 ms. The pushes that count are
  // at 14, 20 and 25 ms.
  EXPECT_THAT(m.update_gap_seconds,
              ElementsAre(DoubleNear(0.006, 1e-12), DoubleNear(0.005, 1e-12)));
  EXPECT_NEAR(m.update_gap_variation, 0.5 / 5.5, 1e-12);
  EXPECT_EQ(m.staleness_max, 3U);
  EXPECT_DOUBLE_EQ(m.staleness_mean, 8.0 / 5) << "1, 1, 3, 2, 1";
  EXPECT_FALSE(m.learns);
}

TEST(LearningMetrics, WhatIsExcludedIsInNoSample) {
  const LearningMetrics m = measure_learning(skipping_one(), two_workers().traffic, {{0, 2}});
  EXPECT_THAT(m.worker_iteration_seconds.values(), ElementsAre(0.008, 0.011, 0.014));
  EXPECT_THAT(m.wait_seconds.values(), ElementsAre(0.001, 0.001, 0.004));
}

TEST(LearningMetrics, OfNothing) {
  const LearningMetrics m = measure_learning(skipping_one(), make_result(1).traffic, {});
  EXPECT_TRUE(std::isnan(m.update_gap_variation));
  EXPECT_TRUE(std::isnan(m.staleness_mean));
  EXPECT_TRUE(std::isnan(m.wait_spread_seconds));
  EXPECT_TRUE(std::isnan(m.time_to_loss_seconds));
}

LearnerReport learner(std::uint16_t job, std::int64_t target_ns, double last) {
  LearnerReport l;
  l.job = job;
  l.target_ns = target_ns;
  l.target_gradients = target_ns == kNotYet_ns ? -1 : 100 + job;
  l.last_loss = last;
  l.least_loss = last / 2;
  l.zeroed_values = 3;
  l.kept_values = 4;
  l.gradients = 10;
  l.parameters = 3;
  l.magnitude = 8;
  l.zeroed_magnitude = job == 0 ? 1 : 0;
  return l;
}

TEST(LearningMetrics, TheSlowestJobCounts) {
  RunResult r = make_result(100);
  r.traffic.jobs.resize(2);
  r.traffic.jobs[1].job = 1;
  r.traffic.jobs[0].begin_ns = 10 * kMs;
  r.traffic.jobs[1].begin_ns = 20 * kMs;
  r.traffic.learners = {learner(0, 90 * kMs, 0.4), learner(1, 80 * kMs, 0.6)};
  const LearningMetrics m = measure_learning(make_case("off"), r.traffic, {});
  EXPECT_TRUE(m.learns);
  EXPECT_DOUBLE_EQ(m.time_to_loss_seconds, 0.08) << "of job 0, begun at 10 ms";
  EXPECT_EQ(m.gradients_to_loss, 100);
  EXPECT_EQ(m.last_loss, 0.6);
  EXPECT_EQ(m.least_loss, 0.3);
  EXPECT_EQ(m.zeroed_values, 6U);
  EXPECT_EQ(m.kept_values, 8U);
  EXPECT_DOUBLE_EQ(m.zeroed_share, 6.0 / 60);
  EXPECT_DOUBLE_EQ(m.zeroed_magnitude_share, 1.0 / 16);

  r.traffic.learners[1] = learner(1, kNotYet_ns, 0.6);
  r.traffic.learners[1].diverged_ns = 5;
  const LearningMetrics never = measure_learning(make_case("off"), r.traffic, {});
  EXPECT_TRUE(std::isnan(never.time_to_loss_seconds));
  EXPECT_TRUE(std::isnan(never.gradients_to_loss));
  EXPECT_EQ(never.diverged, 1U);
}

}  // namespace
}  // namespace outrider::metrics_learning_test
