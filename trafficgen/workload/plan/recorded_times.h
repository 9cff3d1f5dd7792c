#pragma once

#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::tg {

/// The measured times of a profile, by iteration. A sequence gives the value of that iteration and
/// begins again after its last one, so times that were measured together stay together. Quantiles
/// give a draw of their own for each time.
///
/// Pure: equal arguments give equal results. Allocates at construction only.
class RecordedTimes {
 public:
  /// Nothing varies.
  RecordedTimes() = default;
  /// @param model must be valid
  explicit RecordedTimes(const ModelProfile& model);

  [[nodiscard]] bool empty() const noexcept { return !varies_; }

  struct Sample {
    double compute = 1;        ///< time of both passes, as a multiple of the nominal
    double forward_share = 0;  ///< share of the forward pass in it
  };
  /// @param draws stream of one worker and iteration, at its begin  @pre !empty()
  [[nodiscard]] Sample of(std::uint64_t iteration, RandomStream draws) const noexcept;
  /// Returns the share of the backward pass, in (0, 1], after which the tensor's gradient is ready.
  /// Takes time in proportion to the steps before. @pre has_steps(), the same arguments as in of()
  [[nodiscard]] double ready_share(std::uint64_t iteration, RandomStream draws,
                                   std::size_t tensor) const noexcept;
  /// Returns whether the shares of the backward pass differ between iterations.
  [[nodiscard]] bool has_steps() const noexcept { return !step_of_.empty(); }

 private:
  struct Part {
    double nominal = 0;  ///< [s]
    bool drawn = false;  ///< from `values`, which are quantiles
    std::vector<double> values{};
    [[nodiscard]] double at(std::uint64_t iteration, RandomStream& draws) const noexcept;
  };
  static Part part(Duration nominal, const MeasuredTimes& measured);
  [[nodiscard]] double backward(std::uint64_t iteration, RandomStream& draws,
                                std::size_t steps) const noexcept;

  bool varies_ = false;
  Part whole_;  ///< both passes; nominal 0: the parts vary
  Part forward_;
  std::vector<Part> steps_;               ///< of the backward pass, at least one
  std::vector<std::uint32_t> step_of_{};  ///< [tensors], if a step varies
};

}  // namespace outrider::tg
