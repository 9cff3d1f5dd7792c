#include "trafficgen/learner/learner_config.h"

#include <string>

namespace outrider {
namespace {

constexpr std::uint64_t kMaxFeatures = 4096;
constexpr std::uint64_t kMaxHidden = 1024;
constexpr std::uint64_t kMaxSamples = 1U << 20;
/// Values of the data set: 256 MiB.
constexpr std::uint64_t kMaxValues = 1U << 25;
/// The servers', and of each worker copy, gradient and answer.
constexpr std::uint64_t kMaxParameters = 1U << 20;
constexpr LearnerConfig kDefaults{};

}  // namespace

std::uint64_t parameters_of(const LearnerConfig& learner) noexcept {
  const std::uint64_t inputs = std::uint64_t{learner.features} + 1;
  switch (learner.model) {
    case LearnerModel::kLogistic:
      return inputs;
    case LearnerModel::kPerceptron:
      return learner.hidden.value_or(kHiddenUnits) * (inputs + 1) + 1;
    case LearnerModel::kNone:
      break;
  }
  return 0;
}

void check(const Checks& at, const LearnerConfig& learner) {
  if (learner.model == LearnerModel::kNone) {
    if (learner != kDefaults)
      at.fault("model", "\"none\"", "learns nothing: the other settings need one that does");
    return;
  }
  const bool features = at.in_range("features", learner.features, 1, kMaxFeatures);
  if (at.in_range("samples", learner.samples, 1, kMaxSamples, "samples") && features)
    at.require(std::uint64_t{learner.samples} * learner.features <= kMaxValues, "samples",
               std::to_string(learner.samples) + " samples",
               "times features, " + std::to_string(learner.features) + ", must be at most " +
                   std::to_string(kMaxValues) + " values");
  at.in_range("batch", learner.batch, 1, kMaxSamples, "samples");
  at.in_interval("learning_rate", learner.learning_rate, 0, 1000, false);
  if (learner.target_loss) at.in_interval("target_loss", *learner.target_loss, 0, 1000, false);
  if (!learner.hidden) return;
  if (learner.model != LearnerModel::kPerceptron)
    return at.fault("hidden", std::to_string(*learner.hidden),
                    "needs model \"perceptron\": logistic regression has no hidden layer");
  if (at.in_range("hidden", *learner.hidden, 1, kMaxHidden, "units") && features)
    at.require(parameters_of(learner) <= kMaxParameters, "hidden",
               std::to_string(*learner.hidden) + " units",
               "make " + std::to_string(parameters_of(learner)) + " parameters; at most " +
                   std::to_string(kMaxParameters));
}

}  // namespace outrider
