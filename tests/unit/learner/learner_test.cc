// Goal: the learner is stochastic gradient descent with what the network delivered, no
// more and no less.
#include "trafficgen/learner/learner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/core/random.h"

namespace outrider::learner_learner_test {
using namespace tg;
namespace {

using std::chrono::milliseconds;

constexpr std::span<const ByteRange> kAll{};
constexpr LearnerConfig kSmall{.model = LearnerModel::kLogistic,
                               .features = 9,
                               .samples = 64,
                               .batch = 4,
                               .learning_rate = 0.5};

Learner::Setup setup_of(std::uint32_t workers, bool barrier, const LearnerConfig& config = kSmall) {
  return {.config = config,
          .seed = 7,
          .job = 3,
          .workers = workers,
          .shard_bytes = {600, 400},
          .barrier = barrier};
}

std::vector<double> vector_of(std::span<const double> values) {
  return {values.begin(), values.end()};
}

void push(Learner& l, std::uint32_t worker, Time now = {}) {
  for (const std::uint32_t server : {0U, 1U}) l.push_delivered(worker, server, kAll, now);
}
void pull(Learner& l, std::uint32_t worker) {
  for (const std::uint32_t server : {0U, 1U}) l.answered(worker, server);
  for (const std::uint32_t server : {0U, 1U}) l.pull_delivered(worker, server, kAll);
}

/// The gradient of a worker's batch, drawn as documented.
std::vector<double> batch_gradient(const Learner& l, std::span<const double> at,
                                   std::uint32_t worker, std::uint32_t iteration,
                                   std::uint32_t batch) {
  std::vector<double> gradient(at.size(), 0);
  RandomStream draws(7 + (std::uint64_t{iteration} << 32), (3U << 16) | worker,
                     RandomPurpose::kLearnerBatch);
  for (std::uint32_t i = 0; i < batch; ++i)
    l.problem().add_gradient(
        at, static_cast<std::uint32_t>((std::uint64_t{draws.next_u32()} * 64) >> 32), 1.0 / batch,
        gradient);
  return gradient;
}

// One feature: p -= rate * mean of -sign * logistic(-sign * (w x + b)) * (x, 1), twice.
TEST(Learner, TwoStepsByHand) {
  const LearnerConfig one{.model = LearnerModel::kLogistic,
                          .features = 1,
                          .samples = 1,
                          .batch = 1,
                          .learning_rate = 0.5};
  Learner l({.config = one, .workers = 1, .shard_bytes = {8}});
  std::vector<double> unit(2, 0);
  l.problem().add_gradient(std::vector<double>{0, 0}, 0, 1, unit);
  const double sign = unit[1] < 0 ? 1 : -1, x = unit[0] / unit[1];
  double w = 0, b = 0;
  for (std::uint32_t step = 0; step < 2; ++step) {
    l.begin_iteration(0, step);
    l.push_delivered(0, 0, kAll, {});
    l.answered(0, 0);
    l.pull_delivered(0, 0, kAll);
    const double slope = -sign / (1 + std::exp(sign * (w * x + b)));
    w -= 0.5 * slope * x;
    b -= 0.5 * slope;
    EXPECT_NEAR(l.parameters()[0], w, 1e-15) << step;
    EXPECT_NEAR(l.parameters()[1], b, 1e-15) << step;
  }
  EXPECT_NE(w, 0);
}

// One worker at a barrier is descent step by step, to the last bit; so is one without.
TEST(Learner, OneWorkerIsSequentialDescent) {
  for (const bool barrier : {true, false}) {
    Learner l(setup_of(1, barrier));
    std::vector<double> expected = vector_of(l.parameters());
    for (std::uint32_t i = 0; i < 20; ++i) {
      l.begin_iteration(0, i);
      push(l, 0);
      pull(l, 0);
      const std::vector<double> gradient = batch_gradient(l, expected, 0, i, 4);
      for (std::size_t p = 0; p < expected.size(); ++p) expected[p] -= 0.5 * gradient[p];
      ASSERT_EQ(vector_of(l.parameters()), expected) << i;
      ASSERT_EQ(vector_of(l.copy(0)), expected) << i;
    }
  }
}

TEST(Learner, ABarrierAppliesTheMeanWhenTheLastIsThere) {
  Learner l(setup_of(3, true));
  const std::vector<double> start = vector_of(l.parameters());
  std::vector<double> mean(start.size(), 0);
  for (const std::uint32_t w : {0U, 1U, 2U}) {
    l.begin_iteration(w, 0);
    for (std::size_t p = 0; p < start.size(); ++p) mean[p] += l.gradient(w)[p];
  }
  push(l, 2);
  push(l, 0);
  EXPECT_EQ(vector_of(l.parameters()), start) << "one is missing";
  l.push_delivered(1, 1, kAll, {});
  const ParameterMap::Range first = l.map().shard(0), second = l.map().shard(1);
  for (std::size_t p = first.begin; p < first.end; ++p) EXPECT_EQ(l.parameters()[p], start[p]);
  for (std::size_t p = second.begin; p < second.end; ++p)
    EXPECT_EQ(l.parameters()[p], start[p] - 0.5 * (mean[p] / 3)) << "this server has all";
  l.push_delivered(1, 0, kAll, Time{milliseconds(4)});
  for (std::size_t p = 0; p < start.size(); ++p)
    EXPECT_EQ(l.parameters()[p], start[p] - 0.5 * (mean[p] / 3));
  const LearnerReport r = l.report();
  EXPECT_EQ(r.gradients, 3U);
  EXPECT_EQ(r.samples, 12U);
  ASSERT_EQ(r.losses.size(), 2U) << "before, and after the update";
  EXPECT_EQ(r.losses[1].at_ns, 4'000'000);
  EXPECT_EQ(r.losses[1].gradients, 3U);
  EXPECT_EQ(r.losses[1].loss, l.problem().loss(l.parameters()));
}

// Without a barrier a gradient is of the worker's copy, and is applied to what the servers
// have by then.
TEST(Learner, AStaleGradientIsOfTheOldCopy) {
  Learner l(setup_of(2, false));
  const std::vector<double> start = vector_of(l.parameters());
  l.begin_iteration(0, 0);
  l.begin_iteration(1, 0);
  const std::vector<double> first = batch_gradient(l, start, 0, 0, 4),
                            stale = batch_gradient(l, start, 1, 0, 4);
  push(l, 0);
  push(l, 1);
  for (std::size_t p = 0; p < start.size(); ++p)
    EXPECT_EQ(l.parameters()[p], start[p] - 0.5 * first[p] - 0.5 * stale[p]);
  EXPECT_EQ(vector_of(l.copy(0)), start) << "until its pull is there";
}

// What a server sends is what it has when it answers, whatever comes while it is under way.
TEST(Learner, APullBringsWhatWasSent) {
  Learner l(setup_of(2, false));
  l.begin_iteration(0, 0);
  l.begin_iteration(1, 0);
  push(l, 0);
  const std::vector<double> sent = vector_of(l.parameters());
  for (const std::uint32_t server : {0U, 1U}) l.answered(0, server);
  push(l, 1);
  EXPECT_NE(vector_of(l.parameters()), sent);
  for (const std::uint32_t server : {0U, 1U}) l.pull_delivered(0, server, kAll);
  EXPECT_EQ(vector_of(l.copy(0)), sent);
  l.begin_iteration(0, 1);
  EXPECT_EQ(vector_of(l.gradient(0)), batch_gradient(l, sent, 0, 1, 4))
      << "of what it has, not of what the servers have";
}

// 10 parameters of 1000 bytes stand at 0, 100, ..., 900; the second server's bytes are
// those from 600.
TEST(Learner, MissingGradientsAreZeros) {
  Learner whole(setup_of(1, false)), part(setup_of(1, false));
  const std::vector<double> start = vector_of(part.parameters());
  for (Learner* l : {&whole, &part}) l->begin_iteration(0, 0);
  const ByteRange first[] = {{0, 1}, {150, 301}}, second[] = {{1, 100}, {300, 400}};
  push(whole, 0);
  part.push_delivered(0, 0, first, {});
  part.push_delivered(0, 1, second, {});
  const std::vector<bool> lost{true, false, true, true, false, false, false, false, false, true};
  for (std::size_t p = 0; p < lost.size(); ++p) {
    EXPECT_EQ(part.parameters()[p], lost[p] ? start[p] : whole.parameters()[p]) << p;
    EXPECT_NE(whole.parameters()[p], start[p]) << p;
  }
  EXPECT_EQ(part.report().zeroed_values, 4U);
  double sum = 0, zeroed = 0;
  for (std::size_t p = 0; p < lost.size(); ++p) {
    sum += std::abs(whole.gradient(0)[p]);
    zeroed += lost[p] ? std::abs(whole.gradient(0)[p]) : 0;
  }
  EXPECT_DOUBLE_EQ(part.report().magnitude, sum);
  EXPECT_DOUBLE_EQ(part.report().zeroed_magnitude, zeroed);
  EXPECT_EQ(part.report().kept_values, 0U);
}

// Ten parameters stand for 1000 bytes: one at every hundredth, from 0 and, of the second shard,
// from 600.
TEST(Learner, TellsTheMagnitudeOfARange) {
  Learner l(setup_of(2, true));
  l.begin_iteration(0, 0);
  l.begin_iteration(1, 0);
  const std::span<const double> g = l.gradient(1);
  EXPECT_EQ(l.mean_magnitude(1, 0, {100, 200}), std::abs(g[1]));
  EXPECT_EQ(l.mean_magnitude(1, 1, {0, 101}), (std::abs(g[6]) + std::abs(g[7])) / 2);
  EXPECT_EQ(l.mean_magnitude(1, 0, {101, 200}), std::nullopt) << "no parameter is there";
}

TEST(Learner, MissingGradientsCountAsZerosOfTheMean) {
  Learner l(setup_of(2, true));
  l.begin_iteration(0, 0);
  l.begin_iteration(1, 0);
  const std::vector<double> other = vector_of(l.gradient(1)), start = vector_of(l.parameters());
  const ByteRange lost[] = {{0, 100}};
  l.push_delivered(0, 0, lost, {});
  l.push_delivered(1, 0, kAll, {});
  EXPECT_EQ(l.parameters()[0], start[0] - 0.5 * (other[0] / 2));
}

TEST(Learner, MissingParametersKeepTheirValues) {
  Learner l(setup_of(1, false));
  const std::vector<double> start = vector_of(l.copy(0));
  l.begin_iteration(0, 0);
  push(l, 0);
  for (const std::uint32_t server : {0U, 1U}) l.answered(0, server);
  const ByteRange first[] = {{0, 100}, {500, 600}}, second[] = {{100, 300}};
  l.pull_delivered(0, 0, first);
  l.pull_delivered(0, 1, second);
  const std::vector<bool> lost{true, false, false, false, false, true, false, true, true, false};
  for (std::size_t p = 0; p < lost.size(); ++p)
    EXPECT_EQ(l.copy(0)[p], lost[p] ? start[p] : l.parameters()[p]) << p;
  EXPECT_EQ(l.report().kept_values, 4U);
  EXPECT_EQ(l.report().zeroed_values, 0U);
}

TEST(Learner, ALargerBatchIsTheMeanOfMoreSamples) {
  Learner l(setup_of(1, false));
  l.begin_iteration(0, 0, 9);
  EXPECT_EQ(vector_of(l.gradient(0)), batch_gradient(l, l.copy(0), 0, 0, 9));
  push(l, 0);
  EXPECT_EQ(l.report().samples, 9U);
}

// A worker more draws for itself alone.
TEST(Learner, WorkersDrawForThemselves) {
  Learner two(setup_of(2, true)), three(setup_of(3, true));
  for (const std::uint32_t w : {1U, 0U}) two.begin_iteration(w, 5);
  for (const std::uint32_t w : {0U, 1U, 2U}) three.begin_iteration(w, 5);
  for (const std::uint32_t w : {0U, 1U})
    EXPECT_EQ(vector_of(two.gradient(w)), vector_of(three.gradient(w)));
  EXPECT_NE(vector_of(three.gradient(1)), vector_of(three.gradient(2)));
}

// A rate far too large: it stops with a mark instead of spreading what is no number.
TEST(Learner, DivergesWithAMark) {
  LearnerConfig wild{.model = LearnerModel::kPerceptron,
                     .features = 9,
                     .hidden = 2,
                     .samples = 64,
                     .batch = 4,
                     .learning_rate = 1e308};
  Learner l(setup_of(1, false, wild));
  for (std::uint32_t i = 0; i < 10; ++i) {
    l.begin_iteration(0, i);
    push(l, 0, Time{milliseconds(i + 1)});
    pull(l, 0);
  }
  const LearnerReport r = l.report();
  EXPECT_GT(r.diverged_ns, 0);
  EXPECT_TRUE(std::isfinite(r.last_loss));
  EXPECT_EQ(r.gradients, 10U);
}

}  // namespace
}  // namespace outrider::learner_learner_test
