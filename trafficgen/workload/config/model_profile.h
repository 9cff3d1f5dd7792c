#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_result.h"
#include "common/core/clock.h"

namespace outrider::tg {

struct Tensor {
  std::string name;         ///< unique within the model
  std::uint64_t bytes = 0;  ///< of its gradient, > 0
};

/// What a compute time rests on.
enum class ComputeSource : std::uint8_t {
  kPaper,     ///< somebody published the measurement
  kScaled,    ///< from a published one of another model, by the rule in compute_basis
  kRecorded,  ///< from the traffic of a job that ran
};

/// Gradients that become ready together: tensors from `first_tensor` up to where the
/// step before begins, the first step's up to the last tensor.
struct BackwardStep {
  std::uint32_t first_tensor = 0;  ///< 0-based
  Duration after{};                ///< the step before; the first: the begin of the backward pass
};

/// What the traffic of a training job depends on: how much there is to send,
/// in which pieces, and how long a worker computes. One file of conf/models.
struct ModelProfile {
  std::string name;
  std::string precision = "fp32";
  std::uint64_t parameters = 0;   ///< > 0
  std::uint64_t total_bytes = 0;  ///< the sum over the tensors
  std::string source;             ///< where the numbers are from
  /// Compute times of one iteration; absent if no source is known.
  std::optional<Duration> forward{};
  std::optional<Duration> backward{};
  std::optional<ComputeSource> compute_source{};
  std::optional<std::string> compute_basis{};  ///< device, batch, origin, rule, assumptions
  std::vector<BackwardStep> steps{};  ///< in the order of the backward pass; empty: unknown
  std::vector<Tensor> tensors;        ///< in forward order; back-propagation emits them in reverse

  /// Forward and backward pass together.
  [[nodiscard]] std::optional<Duration> compute() const {
    if (!forward || !backward) return std::nullopt;
    return *forward + *backward;
  }
};

/// Every fault, each by its key; empty means valid. Pure.
ConfigIssues validate(const ModelProfile& profile);

ConfigResult<ModelProfile> load_model_profile(const std::string& path);
std::string to_toml(const ModelProfile& profile);

}  // namespace outrider::tg
