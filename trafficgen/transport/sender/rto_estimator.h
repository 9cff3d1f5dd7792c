#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// Retransmission time-out from round-trip samples, in integer nanoseconds.
///
/// Source: RFC 6298 with alpha = 1/8, beta = 1/4, K = 4 and a clock granularity
/// of 1 ns. Deviation: the minimum is a setting, not 1 s (2.4). A backed-off
/// value stays until the next sample (5, last paragraph).
class RtoEstimator {
 public:
  /// Settings, handed in because an estimator is kept per connection. 0 < min <= max
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

  /// @param rtt of a segment that was sent once (Karn, section 3), >= 0
  constexpr void on_sample(Duration rtt, const Bounds& bounds) noexcept {
    assert(rtt >= Duration::zero());
    if (srtt_ < Duration::zero()) {  // (2.2)
      srtt_ = rtt;
      rttvar_ = rtt / 2;
    } else {  // (2.3): the variance first, it uses the old mean
      const Duration error = rtt - srtt_;
      rttvar_ += ((error < Duration::zero() ? -error : error) - rttvar_) / 4;
      srtt_ += error / 8;
    }
    rto_ = std::clamp(srtt_ + std::max(Duration{1}, 4 * rttvar_), bounds.min, bounds.max);
  }

  /// (5.5)
  constexpr void back_off(const Bounds& bounds) noexcept { rto_ = std::min(2 * rto_, bounds.max); }

  /// (5.7): after a SYN was lost, data starts with a longer time-out.
  constexpr void restart_at(Duration rto, const Bounds& bounds) noexcept {
    rto_ = std::min(rto, bounds.max);
  }

  [[nodiscard]] constexpr Duration rto() const noexcept { return rto_; }
  /// Zero: no sample.
  [[nodiscard]] constexpr Duration srtt() const noexcept {
    return std::max(srtt_, Duration::zero());
  }

 private:
  Duration rto_;
  Duration srtt_{-1};  ///< negative: no sample
  Duration rttvar_{};
};

}  // namespace outrider::tg
