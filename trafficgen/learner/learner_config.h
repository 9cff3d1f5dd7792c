#pragma once

#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider::tg {

/// The model that a job's workers learn with their traffic.
enum class LearnerModel : std::uint8_t {
  kNone,
  kLogistic,    ///< logistic regression: convex
  kPerceptron,  ///< one hidden layer of tanh units, logistic output
};

/// [job.learner]
struct LearnerConfig {
  LearnerModel model = LearnerModel::kNone;
  std::uint32_t features = 32;            ///< of a sample
  std::optional<std::uint32_t> hidden{};  ///< kPerceptron: units; absent: 16
  std::uint32_t samples = 1024;           ///< of the data set
  std::uint32_t batch = 32;               ///< samples of a worker's gradient
  double learning_rate = 0.1;             ///< of an update: one gradient, or the mean at a barrier
  std::optional<double> target_loss{};    ///< [nats], > 0
  bool operator==(const LearnerConfig&) const = default;
};

inline constexpr std::uint32_t kHiddenUnits = 16;

/// Returns the number of parameters of the model; 0 with kNone.
[[nodiscard]] std::uint64_t parameters_of(const LearnerConfig& learner) noexcept;

/// Checks the table itself; rules that refer to the job are checked with the job.
void check(const Checks& at, const LearnerConfig& learner);

inline constexpr auto kLearnerModels =
    choices<LearnerModel>({{"none", LearnerModel::kNone},
                           {"logistic", LearnerModel::kLogistic},
                           {"perceptron", LearnerModel::kPerceptron}});

void describe(Settings& v, LearnerConfig& c);

}  // namespace outrider::tg
