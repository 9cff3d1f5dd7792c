#include "trafficgen/learner/learner_config.h"

#include <string>

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMaxFeatures = 4096;
constexpr std::uint64_t kMaxHidden = 1024;
constexpr std::uint64_t kMaxLearnerSamples = 1U << 20;
/// Largest number of values in the data set: 256 MiB.
constexpr std::uint64_t kMaxValues = 1U << 25;
/// Largest number of parameters; the servers, and each worker's copy, gradient and answer hold
/// them.
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
  if (at.in_range("samples", learner.samples, 1, kMaxLearnerSamples, "samples") && features)
    at.require(std::uint64_t{learner.samples} * learner.features <= kMaxValues, "samples",
               std::to_string(learner.samples) + " samples",
               "times features, " + std::to_string(learner.features) + ", must be at most " +
                   std::to_string(kMaxValues) + " values");
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

void describe(Settings& v, LearnerConfig& c) {
  v.choice("model", c.model, kLearnerModels,
           {.accepts = "none refuses the other keys",
            .help = "logistic regression, or one hidden layer of tanh units"});
  v.value("features", c.features, {.range = integers(1, kMaxFeatures), .help = "of a sample"});
  v.value("hidden", c.hidden,
          {.range = integers(1, kMaxHidden, "units"),
           .accepts = "needs `perceptron`",
           .absent = "16",
           .help = "units of the hidden layer"});
  v.value("samples", c.samples,
          {.range = integers(1, kMaxLearnerSamples, "samples"),
           .accepts = "times `features` at most 33554432",
           .help = "of the data set"});
  v.value("batch", c.batch,
          {.range = integers(1, kMaxLearnerSamples, "samples"),
           .help = "samples of a worker's gradient"});
  v.value("learning_rate", c.learning_rate,
          {.range = reals_above(0, 1000),
           .help = "of an update: one worker's gradient, or the mean of all at a barrier"});
  v.value("target_loss", c.target_loss,
          {.range = reals_above(0, 1000), .absent = "none", .help = "the time to it is reported"});
}

}  // namespace outrider::tg
