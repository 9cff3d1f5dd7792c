#pragma once

#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::tg {

/// Spaces departures at a rate, by returning when the next one may leave.
///
/// Protocol: ask may_send(now) before a departure and call on_sent() with it. The owner sets its
/// timer to next_release(). The first departure may leave at once, and so may one after idle time;
/// idle time earns no burst. `catch_up` compensates the owner's own lateness (a busy NIC, a late
/// poll): a departure that is late by at most `catch_up` leaves the schedule unchanged, so that the
/// long-run rate is exact. Time lost by greater lateness is not made up. Time is kept in units of
/// 1/256 ns, to which gaps are rounded; for 1448 bytes at 400 Gbit/s the error is at most 7e-5 of
/// the gap.
///
/// The rate is an argument because a window's pace changes with every ACK. 8 bytes,
/// O(1), one division per departure. Not thread-safe (one lcore owns it).
class Pacer {
 public:
  [[nodiscard]] bool may_send(Time now) const noexcept { return fine(now) >= next_; }
  /// Returns when the next departure may leave; a past time if it may leave already.
  [[nodiscard]] Time next_release() const noexcept {
    return Time{Duration{(next_ + kPerNs - 1) / kPerNs}};
  }

  /// Notes a departure at `now` and schedules the next.
  /// @pre may_send(now), rate > 0, catch_up >= 0
  /// @param bytes    bytes that count for the rate, e.g. payload
  /// @param catch_up  lateness that is compensated [ns]
  void on_sent(std::uint32_t bytes, BitRate rate, Time now, Duration catch_up = {}) noexcept {
    assert(may_send(now) && rate.bits_per_second > 0 && catch_up >= Duration::zero());
    // The owner was idle in between: its unused time is lost.
    if (next_release() < now - catch_up) next_ = fine(now);
    const double gap_ns = bytes * 8e9 / static_cast<double>(rate.bits_per_second);
    // The gap is positive and far below 2^52, so this rounds correctly; lround() would be a call.
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
