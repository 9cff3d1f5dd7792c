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
  std::uint64_t bytes = 0;  ///< size of its gradient, > 0
};

/// Where a compute time comes from.
enum class ComputeSource : std::uint8_t {
  kPaper,     ///< a published measurement
  kScaled,    ///< scaled from a published one of another model, by the rule in compute_basis
  kRecorded,  ///< from the traffic of a job that ran
};

/// How a time varied where it was measured: at most one of the two.
struct MeasuredTimes {
  std::vector<Duration> sequence{};   ///< one value for each iteration, in order
  std::vector<Duration> quantiles{};  ///< at equal distances, from the least value to the largest

  [[nodiscard]] bool empty() const noexcept { return sequence.empty() && quantiles.empty(); }
};

/// Gradients that become ready together: the tensors from `first_tensor` to the one before the
/// previous step's first tensor. The first step reaches to the last tensor.
struct BackwardStep {
  std::uint32_t first_tensor = 0;  ///< 0-based
  Duration after{};                ///< time since the step before; first step: since the begin of
                                   ///< the backward pass
  MeasuredTimes measured{};        ///< of `after`
};

/// The properties of a model on which the traffic of a training job depends: how many bytes are to
/// be sent, in which pieces, and how long a worker computes. Each file of conf/models holds one.
struct ModelProfile {
  std::string name;
  std::string precision = "fp32";
  std::uint64_t parameters = 0;   ///< > 0
  std::uint64_t total_bytes = 0;  ///< the sum over the tensors
  std::string source;             ///< where the numbers are from
  /// Compute times of one iteration; absent if no source is known.
  std::optional<Duration> forward{};
  std::optional<Duration> backward{};
  MeasuredTimes compute_measured{};  ///< of both passes together; then the parts have none
  MeasuredTimes forward_measured{};
  std::optional<ComputeSource> compute_source{};
  std::optional<std::string> compute_basis{};  ///< device, batch, origin, rule, assumptions
  std::vector<BackwardStep> steps{};  ///< in the order of the backward pass; empty: unknown
  std::vector<Tensor> tensors;        ///< in forward order; back-propagation makes gradients in
                                      ///< reverse

  /// Returns the time of the forward and the backward pass together.
  [[nodiscard]] std::optional<Duration> compute() const {
    if (!forward || !backward) return std::nullopt;
    return *forward + *backward;
  }
};

/// Returns whether any of the profile's times varies.
[[nodiscard]] bool has_measured_times(const ModelProfile& profile) noexcept;

/// Returns all faults, each by its key; empty means valid. Pure.
ConfigIssues validate(const ModelProfile& profile);

ConfigResult<ModelProfile> load_model_profile(const std::string& path);
std::string to_toml(const ModelProfile& profile);

}  // namespace outrider::tg
