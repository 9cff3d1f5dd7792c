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
///
/// on_sample_like_linux() follows Linux 6.1 instead (tcp_rtt_estimator(), tcp_set_rto()): the time
/// above the mean is the largest value of 4 mean deviations in a round trip, at least the minimum.
/// It falls by a quarter of the difference per round trip. A sample far below the mean raises the
/// deviation by an eighth of what one above the mean does. One object uses one of the two.
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

  /// Where a stream stands when a sample arrives, in the low 32 bits of its offsets.
  struct Position {
    std::uint32_t una = 0;
    std::uint32_t nxt = 0;
  };
  /// @param rtt as for on_sample(), @param at after the acknowledgment that gave the sample
  constexpr void on_sample_like_linux(Duration rtt, Position at, const Bounds& bounds) noexcept {
    assert(rtt >= Duration::zero());
    if (srtt_ < Duration::zero()) {
      srtt_ = rtt;
      rttvar_ = rtt / 2;
      margin_ = round_margin_ = std::max(4 * rttvar_, bounds.min);
      round_end_ = at.nxt;
    } else {
      const Duration error = rtt - srtt_;
      const bool below = error < Duration::zero();
      const Duration rise = (below ? -error : error) - rttvar_;
      rttvar_ += rise / (below && rise > Duration::zero() ? 32 : 4);
      srtt_ += error / 8;
      take_margin(at, bounds.min);
    }
    rto_ = std::min(srtt_ + margin_, bounds.max);
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
  /// Follows the largest deviation, and lets it fall once per round trip.
  constexpr void take_margin(Position at, Duration least) noexcept {
    round_margin_ = std::max(round_margin_, 4 * rttvar_);
    margin_ = std::max(margin_, round_margin_);
    if (static_cast<std::int32_t>(at.una - round_end_) <= 0) return;
    margin_ -= (margin_ - round_margin_) / 4;
    round_margin_ = least;
    round_end_ = at.nxt;
  }

  Duration rto_;
  Duration srtt_{-1};        ///< negative: no sample
  Duration rttvar_{};        ///< mean deviation
  Duration margin_{};        ///< Linux: rttvar_us, which is added to the mean
  Duration round_margin_{};  ///< Linux: mdev_max_us, the largest in this round trip
  std::uint32_t round_end_ = 0;
};

}  // namespace outrider::tg
