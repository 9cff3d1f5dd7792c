#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider {

/// Retransmission time-out from round-trip samples, in integer nanoseconds.
///
/// Source: RFC 6298 with alpha = 1/8, beta = 1/4, K = 4 and a clock granularity
/// of 1 ns. Deviation: the minimum is a setting, not 1 s (2.4). A backed-off
/// value stays until the next sample (5, last paragraph).
class RtoEstimator {
 public:
  /// @pre 0 < min <= max, initial > 0
  constexpr RtoEstimator(Duration initial, Duration min, Duration max) noexcept
      : rto_(std::min(initial, max)), min_(min), max_(max) {
    assert(initial > Duration::zero() && min > Duration::zero() && min <= max);
  }

  /// @param rtt of a segment that was sent once (Karn, section 3), >= 0
  constexpr void on_sample(Duration rtt) noexcept {
    assert(rtt >= Duration::zero());
    if (!sampled_) {  // (2.2)
      srtt_ = rtt;
      rttvar_ = rtt / 2;
      sampled_ = true;
    } else {  // (2.3): the variance first, it uses the old mean
      const Duration error = rtt - srtt_;
      rttvar_ += ((error < Duration::zero() ? -error : error) - rttvar_) / 4;
      srtt_ += error / 8;
    }
    rto_ = std::clamp(srtt_ + std::max(Duration{1}, 4 * rttvar_), min_, max_);
  }

  /// (5.5)
  constexpr void back_off() noexcept { rto_ = std::min(2 * rto_, max_); }

  /// (5.7): after a SYN was lost, data starts with a longer time-out.
  constexpr void restart_at(Duration rto) noexcept { rto_ = std::min(rto, max_); }

  [[nodiscard]] constexpr Duration rto() const noexcept { return rto_; }
  [[nodiscard]] constexpr Duration srtt() const noexcept { return srtt_; }  ///< zero: no sample

 private:
  Duration rto_;
  Duration min_;
  Duration max_;
  Duration srtt_{};
  Duration rttvar_{};
  bool sampled_ = false;
};

}  // namespace outrider
