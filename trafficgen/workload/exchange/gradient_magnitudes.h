#pragma once

#include <cstdint>
#include <optional>

#include "trafficgen/core/byte_range.h"

namespace outrider::tg {

/// Knows the gradients that a worker is about to push, for an exchange that treats large ones
/// differently from small ones.
class GradientMagnitudes {
 public:
  /// Returns the mean |g| of the gradients in these bytes of the worker's current push to the
  /// target; nothing if no gradient is there.
  [[nodiscard]] virtual std::optional<double> mean_magnitude(
      std::uint32_t worker, std::uint32_t target, const ByteRange& bytes) const noexcept = 0;

 protected:
  ~GradientMagnitudes() = default;
};

}  // namespace outrider::tg
