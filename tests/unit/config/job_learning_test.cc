// Goal: every rule of [job.r2sp] and [job.learner], and of what they need of their job.
#include <gtest/gtest.h>

#include "tests/unit/config/full_job.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider::job_learning_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using C = JobConfig;

C closed_job() {
  C c = full_job();
  c.schedule = Schedule::kClosedLoop;
  c.pull = true;
  c.announce.lead = 1ms;
  return c;
}

C turns_of(C c) {
  c.synchronisation = Synchronisation::kR2sp;
  return c;
}

C ring_of(C c) {
  c.collective = Collective::kRing;
  c.servers.clear();
  c.aggregate = {};
  return c;
}

C learns(C c, const LearnerConfig& learner = {.model = LearnerModel::kLogistic}) {
  c.learner = learner;
  return c;
}

TEST(JobLearning, RulesOfTurns) {
  const C turns = turns_of(closed_job());
  ASSERT_TRUE(validate(turns).empty());
  const Breach<C> breaches[] = {
      {[](C& c) { c.r2sp.slack = 0; }, "job[0].r2sp.slack", "0.0: must be more than 0.0"},
      {[](C& c) { c.r2sp.warm_up_iterations = 2'000'000; }, "job[0].r2sp.warm_up_iterations",
       "2000000: must be at most"},
      {[](C& c) { c.r2sp.tune_batch = true; }, "job[0].r2sp.batch", "is required with tune_batch"},
      {[](C& c) { c.r2sp.batch = 64; }, "job[0].r2sp.batch", "needs tune_batch"},
      {[](C& c) { c.r2sp = {.tune_batch = true, .batch = 0}; }, "job[0].r2sp.batch",
       "0 samples: must be at least 1"},
      {[](C& c) {
         c = learns(c);
         c.r2sp = {.tune_batch = true, .batch = 64};
       },
       "job[0].r2sp.batch", "must not be given with a learner"},
      {[](C& c) {
         c.r2sp = {.tune_batch = true, .batch = 64};
         c.compute = 0s;
         c.compute_jitter = 0;
         c.announce.lead = 0s;
       },
       "job[0].r2sp.tune_batch", "needs compute above 0s"},
      {[](C& c) { c.schedule = Schedule::kFixed; }, "job[0].synchronisation",
       "\"r2sp\": needs schedule \"closed_loop\""},
      {[](C& c) { c = ring_of(c); }, "job[0].synchronisation",
       "must be \"bsp\" with collective \"ring\""},
  };
  expect_each_reported(breaches, turns);
}

TEST(JobLearning, TurnsDoNotGoTensorByTensor) {
  C c = turns_of(closed_job());
  c.burst_bytes.reset();
  c.model = "x";
  c.send_policy = SendPolicyKind::kWfbp;
  EXPECT_TRUE(validate(c).empty()) << "the order within a push is free";
  c.policy.granularity = Granularity::kTensor;
  const ConfigIssues issues = validate(c);
  ASSERT_EQ(issues.size(), 1U);
  EXPECT_EQ(issues[0].key, "job[0].policy.granularity");
}

TEST(JobLearning, SettingsOfTurnsNeedThem) {
  const Breach<C> breaches[] = {
      {[](C& c) { c.r2sp.slack = 1.2; }, "job[0].r2sp.slack", "needs synchronisation \"r2sp\""},
      {[](C& c) { c.r2sp.warm_up_iterations = 10; }, "job[0].r2sp.warm_up_iterations",
       "needs synchronisation \"r2sp\""},
      {[](C& c) { c.r2sp.tune_batch = true; }, "job[0].r2sp.tune_batch",
       "needs synchronisation \"r2sp\""},
      {[](C& c) { c.r2sp.batch = 10; }, "job[0].r2sp.batch", "needs synchronisation \"r2sp\""},
  };
  expect_each_reported(breaches, closed_job());
}

TEST(JobLearning, RulesOfTheLearner) {
  const C logistic = learns(closed_job());
  ASSERT_TRUE(validate(logistic).empty());
  const Breach<C> breaches[] = {
      {[](C& c) { c.learner.features = 0; }, "job[0].learner.features", "0: must be at least 1"},
      {[](C& c) { c.learner.samples = 0; }, "job[0].learner.samples",
       "0 samples: must be at least 1"},
      {[](C& c) {
         c.learner.samples = 1U << 20;
         c.learner.features = 33;
       },
       "job[0].learner.samples", "1048576 samples: times features, 33, must be at most"},
      {[](C& c) { c.learner.batch = 0; }, "job[0].learner.batch", "0 samples: must be at least 1"},
      {[](C& c) { c.learner.learning_rate = 0; }, "job[0].learner.learning_rate",
       "0.0: must be more than 0.0"},
      {[](C& c) { c.learner.target_loss = 0; }, "job[0].learner.target_loss",
       "0.0: must be more than 0.0"},
      {[](C& c) { c.learner.hidden = 4; }, "job[0].learner.hidden",
       "4: needs model \"perceptron\""},
      {[](C& c) { c.learner.model = LearnerModel::kNone, c.learner.batch = 8; },
       "job[0].learner.model", "\"none\": learns nothing"},
      {[](C& c) { c.pull = false; }, "job[0].learner.model", "needs pull"},
      {[](C& c) { c = ring_of(c); }, "job[0].learner.model", "needs collective \"ps\""},
      {[](C& c) { c.burst_bytes = 32; }, "job[0].burst_bytes",
       "32 bytes: must be at least one for each of the learner's 33 parameters"},
  };
  expect_each_reported(breaches, logistic);
  const C perceptron = learns(closed_job(), {.model = LearnerModel::kPerceptron});
  ASSERT_TRUE(validate(perceptron).empty());
  const Breach<C> of_layers[] = {
      {[](C& c) { c.learner.hidden = 0; }, "job[0].learner.hidden", "0 units: must be at least 1"},
      {[](C& c) {
         c.learner.hidden = 1024;
         c.learner.features = 1023;
       },
       "job[0].learner.hidden", "1024 units: make 1049601 parameters; at most 1048576"},
  };
  C large = perceptron;
  large.burst_bytes = 100'000'000;
  expect_each_reported(of_layers, large);
}

}  // namespace
}  // namespace outrider::job_learning_test
