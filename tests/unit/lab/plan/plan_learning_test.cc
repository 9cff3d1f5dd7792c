// Goal: an experiment's settings of synchronisation and learning arrive in its jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/experiment/experiment_fixture.h"

namespace outrider::plan_learning_test {
using namespace tg;
namespace {

JobConfig job_with(const std::string& parameters) {
  const auto text =
      with(small_experiment(), "job.iterations = 2\n",
           "job.iterations = 2\njob.schedule = \"closed_loop\"\njob.compute = \"100ms\"\n"
           "job.announce.ack_timeout = \"1rtt\"\nworkers = 3\n" +
               parameters);
  return plan_of(text).at(0).traffic.jobs.at(0);
}

TEST(PlanLearning, SaysNothingThatIsNotAsked) {
  const JobConfig job = job_with("");
  EXPECT_EQ(job.synchronisation, Synchronisation::kBsp);
  EXPECT_EQ(job.staleness_bound, std::nullopt);
  EXPECT_EQ(job.r2sp, R2spConfig{});
  EXPECT_EQ(job.learner, LearnerConfig{});
  EXPECT_TRUE(job.compute_factors.empty());
}

TEST(PlanLearning, BoundsAndTurns) {
  const JobConfig bounded = job_with("job.synchronisation = \"ssp\"\njob.staleness_bound = 4\n");
  EXPECT_EQ(bounded.synchronisation, Synchronisation::kSsp);
  EXPECT_EQ(bounded.staleness_bound, 4U);
  const JobConfig turns = job_with(
      "job.synchronisation = \"r2sp\"\njob.r2sp.slack = 0.8\njob.r2sp.warm_up_iterations = 7\n"
      "job.r2sp.tune_batch = true\njob.r2sp.batch = 48\n");
  EXPECT_EQ(turns.r2sp, (R2spConfig{0.8, 7, true, 48})) << "without a learner it needs a batch";
}

TEST(PlanLearning, TheFirstWorkerIsTheSlowest) {
  EXPECT_THAT(job_with("compute_spread = 0.5\n").compute_factors,
              testing::ElementsAre(1.5, 1.25, 1.0));
}

TEST(PlanLearning, TheFirstWorkersNicIsTheSlowest) {
  const auto text = with(small_experiment(), "job.iterations = 2\n",
                         "job.iterations = 2\nworkers = 3\nworker_rate_spread = 1.0\n");
  const auto hosts = plan_of(text).at(0).traffic.hosts;
  const auto rates = [&hosts](const std::string& prefix) {
    std::vector<std::uint64_t> found;
    for (const auto& host : hosts)
      if (host.name.starts_with(prefix)) found.push_back(host.rate.bits_per_second);
    return found;
  };
  const auto workers = rates("worker_");
  ASSERT_EQ(workers.size(), 3U);
  const std::uint64_t full = workers[2];
  EXPECT_THAT(workers, testing::ElementsAre(full / 2, full * 2 / 3, full));
  EXPECT_THAT(rates("server"), testing::Each(full)) << "only workers are spread";
}

TEST(PlanLearning, Learners) {
  const JobConfig logistic = job_with(
      "job.learner.model = \"logistic\"\njob.learner.features = 5\njob.learner.samples = 70\n"
      "job.learner.batch = 6\n"
      "learner_rate = 0.4\njob.learner.target_loss = 0.3\njob.synchronisation = \"r2sp\"\n"
      "job.r2sp.tune_batch = true\n");
  EXPECT_EQ(logistic.learner, (LearnerConfig{.model = LearnerModel::kLogistic,
                                             .features = 5,
                                             .samples = 70,
                                             .batch = 6,
                                             .learning_rate = 0.4,
                                             .target_loss = 0.3}));
  EXPECT_EQ(logistic.r2sp.batch, std::nullopt) << "the learner has one";
  const JobConfig layers = job_with("job.learner.model = \"perceptron\"\njob.learner.hidden = 9\n");
  EXPECT_EQ(layers.learner.hidden, 9U);
  EXPECT_EQ(layers.learner.target_loss, std::nullopt);
}

// Three gradients applied one after the other move as far as their mean at three times the rate.
TEST(PlanLearning, RatesAreOfOneGradient) {
  const auto rate = [](const std::string& rule) {
    return job_with("job.learner.model = \"logistic\"\nlearner_rate = 0.5\n" + rule)
        .learner.learning_rate;
  };
  EXPECT_EQ(rate(""), 1.5);
  EXPECT_EQ(rate("job.synchronisation = \"ssp\"\njob.staleness_bound = 0\n"), 1.5)
      << "bound 0 is a barrier";
  EXPECT_EQ(rate("job.synchronisation = \"ssp\"\njob.staleness_bound = 1\n"), 0.5);
  EXPECT_EQ(rate("job.synchronisation = \"asp\"\n"), 0.5);
  EXPECT_EQ(rate("job.synchronisation = \"r2sp\"\n"), 0.5);
}

}  // namespace
}  // namespace outrider::plan_learning_test
