#include "trafficgen/learner/learning_problem.h"

#include <cassert>
#include <cmath>
#include <numeric>

#include "common/core/random.h"

namespace outrider::tg {
namespace {

/// Approximate deviation of the rule's scores: most samples are clear, some are not.
constexpr double kScore = 3;

/// Returns the weighted sum of one unit's inputs, with its bias.
double weighted(std::span<const double> unit, std::span<const double> x) noexcept {
  return std::inner_product(x.begin(), x.end(), unit.begin(), unit[x.size()]);
}

/// Adds slope * (x, 1) to the gradient.
void add_inputs(std::span<const double> x, double slope, std::span<double> gradient) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) gradient[i] += slope * x[i];
  gradient[x.size()] += slope;
}

/// Returns ln(1 + exp(t)) without overflow.
double softplus(double t) noexcept { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

double logistic(double z) noexcept { return 1 / (1 + std::exp(-z)); }

}  // namespace

LearningProblem::LearningProblem(const LearnerConfig& config, std::uint64_t seed,
                                 std::uint32_t entity)
    : features_(config.features),
      hidden_(config.model == LearnerModel::kPerceptron ? config.hidden.value_or(kHiddenUnits) : 0),
      samples_(config.samples),
      start_(parameters_of(config), 0.0) {
  assert(config.model != LearnerModel::kNone);
  draw_start(seed, entity);
  draw_data(seed, entity);
}

void LearningProblem::draw_start(std::uint64_t seed, std::uint32_t entity) {
  if (hidden_ == 0) return;
  RandomStream draws(seed, entity, RandomPurpose::kLearnerStart);
  const std::size_t unit = std::size_t{features_} + 2;
  for (std::uint32_t h = 0; h < hidden_; ++h) {
    for (std::uint32_t i = 0; i < features_; ++i)
      start_[h * unit + i] = draws.normal() / std::sqrt(features_);
    start_[(h + 1) * unit - 1] = draws.normal() / std::sqrt(hidden_);
  }
}

void LearningProblem::draw_data(std::uint64_t seed, std::uint32_t entity) {
  RandomStream draws(seed, entity, RandomPurpose::kLearnerData);
  const double outputs = hidden_ == 0 ? features_ : hidden_;
  const double inputs = features_;
  std::vector<double> rule(parameters(), 0.0);
  const std::size_t unit = std::size_t{features_} + 2;
  for (std::size_t p = 0; p + 1 < rule.size(); ++p) {
    const bool is_output = hidden_ == 0 || p % unit == unit - 1;
    rule[p] = draws.normal() * (is_output ? kScore / std::sqrt(outputs) : 1 / std::sqrt(inputs));
  }
  values_.resize(std::size_t{samples_} * features_);
  for (double& value : values_) value = draws.normal();
  signs_.reserve(samples_);
  for (std::uint32_t s = 0; s < samples_; ++s)
    signs_.push_back(draws.uniform() < logistic(score(rule, features(s))) ? 1 : -1);
}

double LearningProblem::score(std::span<const double> parameters,
                              std::span<const double> x) const noexcept {
  if (hidden_ == 0) return weighted(parameters, x);
  const std::size_t unit = std::size_t{features_} + 2;
  double z = parameters.back();
  for (std::uint32_t h = 0; h < hidden_; ++h) {
    const auto own = parameters.subspan(h * unit, unit);
    z += own.back() * std::tanh(weighted(own, x));
  }
  return z;
}

/// Adds slope * gradient of score().
void LearningProblem::add_score_gradient(std::span<const double> parameters,
                                         std::span<const double> x, double slope,
                                         std::span<double> gradient) const noexcept {
  if (hidden_ == 0) return add_inputs(x, slope, gradient);
  const std::size_t unit = std::size_t{features_} + 2;
  for (std::uint32_t h = 0; h < hidden_; ++h) {
    const auto own = parameters.subspan(h * unit, unit);
    const auto out = gradient.subspan(h * unit, unit);
    const double active = std::tanh(weighted(own, x));
    add_inputs(x, slope * own.back() * (1 - active * active), out);
    out.back() += slope * active;
  }
  gradient.back() += slope;
}

double LearningProblem::loss(std::span<const double> parameters) const noexcept {
  assert(parameters.size() == this->parameters());
  double sum = 0;
  for (std::uint32_t s = 0; s < samples_; ++s)
    sum += softplus(-signs_[s] * score(parameters, features(s)));
  return sum / samples_;
}

/// Uses d/dz ln(1 + exp(-sign z)) = -sign / (1 + exp(sign z)).
void LearningProblem::add_gradient(std::span<const double> parameters, std::uint32_t sample,
                                   double weight, std::span<double> gradient) const noexcept {
  assert(parameters.size() == this->parameters() && gradient.size() == this->parameters());
  const auto x = features(sample);
  const double sign = signs_[sample];
  const double slope = -sign * logistic(-sign * score(parameters, x));
  add_score_gradient(parameters, x, weight * slope, gradient);
}

}  // namespace outrider::tg
