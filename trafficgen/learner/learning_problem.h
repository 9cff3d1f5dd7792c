#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trafficgen/learner/learner_config.h"

namespace outrider::tg {

/// A data set with two classes, and a model that learns to distinguish them. The caller holds the
/// model's parameters.
///
/// Features are independent and standard normal. A model of the same form with random parameters,
/// the rule, gives each sample a score z, and the sample is of class 1 with probability 1 / (1 +
/// exp(-z)). The best possible loss is therefore above 0, and the loss of the logistic model has
/// one minimum. The loss is the negative log likelihood, mean over samples.
///
/// Parameters of the logistic model: a weight for each feature, then the bias. Of the perceptron:
/// for each hidden unit a weight for each feature, its bias and the weight of its output; at the
/// end the bias of the output.
///
/// Everything is a function of (configuration, seed, entity). Allocates at construction only; const
/// and without mutable state afterwards.
class LearningProblem {
 public:
  /// @param entity of the draws  @pre config is valid and its model is not kNone
  LearningProblem(const LearnerConfig& config, std::uint64_t seed, std::uint32_t entity);

  [[nodiscard]] std::size_t parameters() const noexcept { return start_.size(); }
  [[nodiscard]] std::uint32_t samples() const noexcept { return samples_; }
  /// Returns the parameters before the first update. They are zeros (logistic), or normal with a
  /// deviation of one over the root of a unit's inputs, biases 0 (perceptron, whose units must
  /// differ).
  [[nodiscard]] std::span<const double> start() const noexcept { return start_; }

  /// @param parameters [parameters]
  [[nodiscard]] double loss(std::span<const double> parameters) const noexcept;
  /// Adds weight * gradient of the sample's loss to `gradient` [parameters].
  void add_gradient(std::span<const double> parameters, std::uint32_t sample, double weight,
                    std::span<double> gradient) const noexcept;

 private:
  [[nodiscard]] std::span<const double> features(std::uint32_t sample) const noexcept {
    return std::span(values_).subspan(std::size_t{sample} * features_, features_);
  }
  [[nodiscard]] double score(std::span<const double> parameters,
                             std::span<const double> x) const noexcept;
  void add_score_gradient(std::span<const double> parameters, std::span<const double> x,
                          double slope, std::span<double> gradient) const noexcept;
  void draw_start(std::uint64_t seed, std::uint32_t entity);
  void draw_data(std::uint64_t seed, std::uint32_t entity);

  std::uint32_t features_;
  std::uint32_t hidden_;  ///< 0: logistic
  std::uint32_t samples_;
  std::vector<double> start_;   ///< [parameters]
  std::vector<double> values_;  ///< [samples][features]
  std::vector<double> signs_;   ///< [samples]: 1 for class 1, else -1
};

}  // namespace outrider::tg
