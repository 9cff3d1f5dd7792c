#pragma once

#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider {

/// Spaces departures at a rate: tells from when on the next one may leave.
///
/// Protocol: may_send(now) before a departure, on_sent() with it; next_release()
/// is the instant for which the owner sets its timer. The first departure is free,
/// and so is one after an idle time: idle time earns no burst. What `catch_up`
/// forgives is the owner's own lateness (a busy NIC, a late poll): a departure that
/// is late by no more than that leaves the schedule where it was, so the long-run
/// rate is exact; beyond it the time is lost. The fraction of a nanosecond that a
/// departure leaves over is carried, so a long train takes what the rate says.
///
/// The rate is an argument because a window's pace changes with every ACK. 16 bytes,
/// O(1), one division per departure. Not thread-safe (one lcore owns it).
class Pacer {
 public:
  [[nodiscard]] bool may_send(Time now) const noexcept { return now >= next_; }
  /// Instant from which the next departure may leave; in the past if it always could.
  [[nodiscard]] Time next_release() const noexcept { return next_; }

  /// Notes a departure at `now` and books the next.
  /// @pre may_send(now), rate > 0, catch_up >= 0
  /// @param bytes    those that the rate counts, e.g. payload
  /// @param catch_up  lateness that is made up for [ns]
  void on_sent(std::uint32_t bytes, BitRate rate, Time now, Duration catch_up = {}) noexcept {
    assert(may_send(now) && rate.bits_per_second > 0 && catch_up >= Duration::zero());
    if (next_ < now - catch_up) {
      next_ = now;  // idle in between: nothing carries over
      fraction_ns_ = 0;
    }
    const double gap_ns = bytes * 8e9 / static_cast<double>(rate.bits_per_second) + fraction_ns_;
    const auto whole_ns = static_cast<std::int64_t>(gap_ns);
    fraction_ns_ = gap_ns - static_cast<double>(whole_ns);
    next_ += Duration{whole_ns};
  }

 private:
  Time next_{};
  double fraction_ns_ = 0;  ///< in [0, 1)
};

}  // namespace outrider
