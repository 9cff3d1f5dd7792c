#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// Computes the retransmission time-out from round-trip samples, in integer nanoseconds.
///
/// Source: RFC 6298 with alpha = 1/8, beta = 1/4, K = 4 and a clock granularity
/// of 1 ns. Deviation: the minimum is a setting, not 1 s (2.4). A backed-off
/// value stays until the next sample (5, last paragraph).
class RtoEstimator {
 public:
  /// Bounds of the RTO, 0 < min <= max. They are passed in because every connection has an
  /// estimator.
  struct Bounds {
    Duration min;
    Duration max;
  };

  /// @pre initial > 0
  constexpr RtoEstimator(Duration initial, const Bounds& bounds) noexcept
      : rto_(std::min(initial, bounds.max)) {
    assert(initial > Duration::zero());
    assert(bounds.min > Duration::zero() && bounds.min <= bounds.max);
  }

  /// @param rtt measured on a segment that was sent once (Karn, section 3), >= 0
  constexpr void on_sample(Duration rtt, const Bounds& bounds) noexcept {
    assert(rtt >= Duration::zero());
    if (srtt_ < Duration::zero()) {  // (2.2)
      srtt_ = rtt;
      rttvar_ = rtt / 2;
    } else {  // (2.3): the variance first, because it uses the old mean
      const Duration error = rtt - srtt_;
      rttvar_ += ((error < Duration::zero() ? -error : error) - rttvar_) / 4;
      srtt_ += error / 8;
    }
    rto_ = std::clamp(srtt_ + std::max(Duration{1}, 4 * rttvar_), bounds.min, bounds.max);
  }

  /// Doubles the time-out (5.5).
  constexpr void back_off(const Bounds& bounds) noexcept { rto_ = std::min(2 * rto_, bounds.max); }

  /// Restarts with a longer time-out for data, after a SYN was lost (5.7).
  constexpr void restart_at(Duration rto, const Bounds& bounds) noexcept {
    rto_ = std::min(rto, bounds.max);
  }

  [[nodiscard]] constexpr Duration rto() const noexcept { return rto_; }
  /// Returns the smoothed round trip; zero without a sample.
  [[nodiscard]] constexpr Duration srtt() const noexcept {
    return std::max(srtt_, Duration::zero());
  }

 private:
  Duration rto_;
  Duration srtt_{-1};  ///< negative: no sample
  Duration rttvar_{};
};

}  // namespace outrider::tg
