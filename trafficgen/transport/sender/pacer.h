#pragma once

#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::tg {

/// Spaces departures at a rate: tells from when on the next one may leave.
///
/// Protocol: may_send(now) before a departure, on_sent() with it; next_release()
/// is the instant for which the owner sets its timer. The first departure is free,
/// and so is one after an idle time: idle time earns no burst. What `catch_up`
/// forgives is the owner's own lateness (a busy NIC, a late poll): a departure that
/// is late by no more than that leaves the schedule where it was, so the long-run
/// rate is exact; beyond it the time is lost. Time is kept in 1/256 ns, in which a gap is
/// rounded: of 1448 bytes at 400 Gbit/s by at most 7e-5 of it.
///
/// The rate is an argument because a window's pace changes with every ACK. 8 bytes,
/// O(1), one division per departure. Not thread-safe (one lcore owns it).
class Pacer {
 public:
  [[nodiscard]] bool may_send(Time now) const noexcept { return fine(now) >= next_; }
  /// Instant from which the next departure may leave; in the past if it always could.
  [[nodiscard]] Time next_release() const noexcept {
    return Time{Duration{(next_ + kPerNs - 1) / kPerNs}};
  }

  /// Notes a departure at `now` and books the next.
  /// @pre may_send(now), rate > 0, catch_up >= 0
  /// @param bytes    those that the rate counts, e.g. payload
  /// @param catch_up  lateness that is made up for [ns]
  void on_sent(std::uint32_t bytes, BitRate rate, Time now, Duration catch_up = {}) noexcept {
    assert(may_send(now) && rate.bits_per_second > 0 && catch_up >= Duration::zero());
    // Idle in between: nothing carries over.
    if (next_release() < now - catch_up) next_ = fine(now);
    const double gap_ns = bytes * 8e9 / static_cast<double>(rate.bits_per_second);
    // A gap is positive and far below 2^52, and lround() would be a call.
    next_ +=
        static_cast<std::int64_t>(gap_ns * kPerNs + 0.5);  // NOLINT(bugprone-incorrect-roundings)
  }

 private:
  static constexpr std::int64_t kPerNs = 256;
  /// @pre within a year of the epoch
  [[nodiscard]] static std::int64_t fine(Time at) noexcept {
    assert(at.time_since_epoch().count() < INT64_MAX / kPerNs);
    return at.time_since_epoch().count() * kPerNs;
  }

  std::int64_t next_ = 0;  ///< [1/256 ns]
};

}  // namespace outrider::tg
