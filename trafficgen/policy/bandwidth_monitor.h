#pragma once

#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// Follows the bandwidth that a sender gets. In each iteration it divides the bytes acknowledged by
/// the time in which something was unacknowledged; times at which there was nothing to send do not
/// count. It keeps an exponentially weighted moving mean of these samples.
///
/// Why a mean of whole iterations, and not a window's fastest piece: a fastest piece is one that
/// met no other worker, so the maximum exceeds what a whole block gets, and it outlives a loss of
/// bandwidth by the window. Why half: after a change the error halves with each iteration, so that
/// a bandwidth that falls to a half is met within 7 % after four.
///
/// Not thread-safe. Allocates nothing.
class BandwidthMonitor {
 public:
  /// Something is handed over, and everything before is acknowledged.
  void on_busy(Time now) noexcept {
    busy_ = true;
    busy_since_ = now;
  }
  void on_acknowledged(std::uint64_t bytes) noexcept { bytes_ += bytes; }
  /// Everything is acknowledged.
  void on_idle(Time now) noexcept {
    count_until(now);
    busy_ = false;
  }
  /// @return false if the iteration gave no sample
  bool end_iteration(Time now) noexcept {
    count_until(now);
    const bool sampled = bytes_ > 0 && busy_time_ > Duration::zero();
    if (sampled) {
      const double sample = static_cast<double>(bytes_) / seconds(busy_time_);
      mean_ = mean_ > 0 ? mean_ + kWeight * (sample - mean_) : sample;
    }
    bytes_ = 0;
    busy_time_ = Duration::zero();
    return sampled;
  }
  [[nodiscard]] double bytes_per_second() const noexcept { return mean_; }

 private:
  static constexpr double kWeight = 0.5;  ///< of the newest iteration

  void count_until(Time now) noexcept {
    if (busy_) busy_time_ += now - busy_since_;
    busy_since_ = now;
  }

  std::uint64_t bytes_ = 0;  ///< acknowledged in this iteration
  Duration busy_time_{};     ///< of this iteration, until busy_since_
  bool busy_ = false;        ///< something is unacknowledged
  Time busy_since_{};
  double mean_ = 0;  ///< [byte/s]; 0: no sample yet
};

}  // namespace outrider::tg
