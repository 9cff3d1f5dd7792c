#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/core/clock.h"

namespace outrider {

/// Update interval and gains of a proportional integral controller of the queueing delay, which
/// adds, once every update interval,
///
///     alpha x (delay - target) + beta x (delay - delay at the last update)
///
/// to a probability.
struct PiGains {
  Duration t_update{};  ///< [ns] > 0
  double alpha = 0;     ///< [1/s] >= 0
  double beta = 0;      ///< [1/s] >= 0
};

/// The target for which both RFCs give their gains. They are for round trips up to 100 ms.
inline constexpr Duration kPiReferenceTarget = std::chrono::milliseconds(15);
/// RFC 8033, section 4.2 (PIE).
inline constexpr PiGains kPieReference{std::chrono::milliseconds(15), 0.125, 1.25};
/// RFC 9332, appendix A.1 (PI2).
inline constexpr PiGains kPi2Reference{std::chrono::milliseconds(16), 0.16, 3.2};

/// Returns the gains at which the controller does at `target` what `reference` does at the
/// reference target, in a network that is faster by the same factor.
///
/// Derivation. Let s = reference target / target, and divide every time by s: delays, round trips
/// and the update interval. The probability has no unit, so each step is the same if
/// alpha x delay and beta x delay are: both gains are multiplied by s, the interval is divided by
/// it. RFC 9332 sets its gains by the same rule: alpha = 0.1 Tupdate / RTT_max^2,
/// beta = 0.3 / RTT_max.
///
/// @pre target > 0
inline PiGains scaled_gains(const PiGains& reference, Duration target) noexcept {
  const double s = seconds(kPiReferenceTarget) / seconds(target);
  const auto divided = Duration{std::llround(static_cast<double>(reference.t_update.count()) / s)};
  return {std::max(divided, Duration{1}), reference.alpha * s, reference.beta * s};
}

}  // namespace outrider
