// Goal: gradients are those of the loss, data is a function of its seed, and the best
// loss of either model is worth looking for.
#include "trafficgen/learner/learning_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/core/random.h"

namespace outrider::learning_problem_test {
using namespace tg;
namespace {

constexpr LearnerConfig kLogistic{.model = LearnerModel::kLogistic, .features = 7, .samples = 40};
constexpr LearnerConfig kPerceptron{
    .model = LearnerModel::kPerceptron, .features = 5, .hidden = 3, .samples = 40};

std::vector<double> gradient_of(const LearningProblem& c, const std::vector<double>& at) {
  std::vector<double> gradient(c.parameters(), 0);
  for (std::uint32_t s = 0; s < c.samples(); ++s)
    c.add_gradient(at, s, 1.0 / c.samples(), gradient);
  return gradient;
}

TEST(LearningProblem, HasTheParametersOfItsModel) {
  EXPECT_EQ(LearningProblem(kLogistic, 1, 0).parameters(), 8U);
  EXPECT_EQ(LearningProblem(kPerceptron, 1, 0).parameters(), 3U * (5 + 2) + 1);
}

// Central differences: the error is of the order of step^2.
TEST(LearningProblem, GradientsAreThoseOfTheLoss) {
  for (const LearnerConfig& config : {kLogistic, kPerceptron}) {
    const LearningProblem c(config, 5, 9);
    RandomStream draws(2, 0, RandomPurpose::kTest);
    std::vector<double> at(c.parameters());
    for (double& p : at) p = draws.normal();
    const std::vector<double> gradient = gradient_of(c, at);
    double largest = 0;
    for (std::size_t p = 0; p < at.size(); ++p) {
      constexpr double kStep = 1e-5;
      std::vector<double> above = at, below = at;
      above[p] += kStep;
      below[p] -= kStep;
      EXPECT_NEAR(gradient[p], (c.loss(above) - c.loss(below)) / (2 * kStep), 1e-8) << p;
      largest = std::max(largest, std::abs(gradient[p]));
    }
    EXPECT_GT(largest, 0.01) << "else nothing was compared";
  }
}

// Two samples of one feature, by hand: loss(w, b) = mean of ln(1 + exp(-sign (w x + b))).
TEST(LearningProblem, LogisticByHand) {
  const LearnerConfig one{.model = LearnerModel::kLogistic, .features = 1, .samples = 2};
  const LearningProblem c(one, 3, 0);
  const std::vector<double> zeros{0, 0};
  EXPECT_DOUBLE_EQ(c.loss(zeros), std::log(2.0));
  // At zero the slope of a sample is -sign / 2, and the bias's input is 1.
  std::vector<double> first(2, 0), second(2, 0);
  c.add_gradient(zeros, 0, 1, first);
  c.add_gradient(zeros, 1, 1, second);
  for (const auto& g : {first, second}) EXPECT_DOUBLE_EQ(std::abs(g[1]), 0.5);
  const double x0 = first[0] / first[1], x1 = second[0] / second[1];
  const double sign0 = first[1] < 0 ? 1 : -1, sign1 = second[1] < 0 ? 1 : -1;
  const std::vector<double> at{0.7, -0.2};
  const auto sample = [&](double x, double sign) {
    return std::log(1 + std::exp(-sign * (0.7 * x - 0.2)));
  };
  EXPECT_NEAR(c.loss(at), (sample(x0, sign0) + sample(x1, sign1)) / 2, 1e-15);
}

TEST(LearningProblem, IsAFunctionOfItsSeedAndEntity) {
  for (const LearnerConfig& config : {kLogistic, kPerceptron}) {
    const LearningProblem one(config, 5, 9), same(config, 5, 9), other(config, 6, 9),
        job(config, 5, 8);
    const std::vector<double> at(one.parameters(), 0.3);
    EXPECT_EQ(one.loss(at), same.loss(at));
    EXPECT_NE(one.loss(at), other.loss(at));
    EXPECT_NE(one.loss(at), job.loss(at));
  }
}

// Descent over all samples gets far below the loss of a guess, ln 2, and not to zero:
// labels are drawn, and a rule of this kind cannot know them all.
TEST(LearningProblem, IsWorthLearning) {
  for (LearnerConfig config : {kLogistic, kPerceptron}) {
    config.samples = 2000;
    const LearningProblem c(config, 5, 9);
    std::vector<double> at(c.start().begin(), c.start().end());
    for (int step = 0; step < 400; ++step) {
      const std::vector<double> gradient = gradient_of(c, at);
      for (std::size_t p = 0; p < at.size(); ++p) at[p] -= 1.0 * gradient[p];
    }
    EXPECT_LT(c.loss(at), 0.55);
    EXPECT_GT(c.loss(at), 0.2);
  }
}

TEST(LearningProblem, LargeScoresDoNotOverflow) {
  const LearningProblem c(kLogistic, 5, 9);
  const std::vector<double> huge(c.parameters(), 1e6);
  EXPECT_TRUE(std::isfinite(c.loss(huge)));
  for (const double g : gradient_of(c, huge)) EXPECT_TRUE(std::isfinite(g));
}

}  // namespace
}  // namespace outrider::learning_problem_test
