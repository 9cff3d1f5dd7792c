#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

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

/// The gains that somebody gave. What is absent follows from the target.
struct GivenPiGains {
  std::optional<Duration> t_update{};
  std::optional<double> alpha{};
  std::optional<double> beta{};
};

/// The target for which both RFCs give their gains. They are for round trips up to 100 ms.
inline constexpr Duration kPiReferenceTarget = std::chrono::milliseconds(15);
/// RFC 8033, section 4.2 (PIE).
inline constexpr PiGains kPieReference{std::chrono::milliseconds(15), 0.125, 1.25};
/// RFC 9332, appendix A.1 (PI2).
inline constexpr PiGains kPi2Reference{std::chrono::milliseconds(16), 0.16, 3.2};

/// Returns the gains at which the controller does at `target` what `reference` does at the
/// reference target, in a network that is faster by the same factor. A given value replaces what
/// follows from the target.
///
/// Derivation. Let s = reference target / target, and divide every time by s: delays, round trips
/// and the update interval. The probability has no unit, so each step is the same if
/// alpha x delay and beta x delay are: both gains are multiplied by s, the interval is divided by
/// it. Where another interval is given, the loop acts n times as often. The steps of beta add up
/// to beta x (total change) at any interval, so beta is left alone. Those of alpha add up to
/// alpha / interval for each second of error, so alpha is proportional to the interval. RFC 9332
/// sets its gains by the same rule: alpha = 0.1 Tupdate / RTT_max^2, beta = 0.3 / RTT_max.
///
/// @pre target > 0
inline PiGains scaled_gains(const PiGains& reference, Duration target,
                            const GivenPiGains& given) noexcept {
  const double s = seconds(kPiReferenceTarget) / seconds(target);
  const auto divided = Duration{std::llround(static_cast<double>(reference.t_update.count()) / s)};
  const Duration own = std::max(divided, Duration{1});
  const Duration t_update = given.t_update.value_or(own);
  const double alpha = reference.alpha * s * (seconds(t_update) / seconds(own));
  return {t_update, given.alpha.value_or(alpha), given.beta.value_or(reference.beta * s)};
}

}  // namespace outrider
