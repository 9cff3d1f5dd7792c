#pragma once

#include <cstdint>

#include "trafficgen/transport/memory/flight.h"

namespace outrider::tg {

/// Tracks whether a sender recovers from losses, and until when. A recovery lasts up to the
/// recovery point, the end of the data in flight when it began. The Flight keeps the point. Without
/// a Flight, only one bit is kept: whether the last recovery ended exactly at the oldest byte that
/// may leave.
///
/// Source: RFC 6675, section 5; RFC 6582, 3.2. Not thread-safe.
class LossRecovery {
 public:
  [[nodiscard]] bool open() const noexcept { return phase_ == Phase::kOpen; }
  /// Returns true in fast recovery, in which the window does not grow.
  [[nodiscard]] bool fast() const noexcept { return phase_ == Phase::kFast; }
  /// Returns true in recovery after a time-out, which is slow start.
  [[nodiscard]] bool after_timeout() const noexcept { return phase_ == Phase::kAfterTimeout; }
  /// Returns true below the recovery point. With nothing in flight, no data is below it.
  [[nodiscard]] static bool below_point(const Flight* flight, std::uint64_t una) noexcept {
    return flight != nullptr && una < flight->recovery_point;
  }
  /// Returns true if the data in flight left after the last recovery.
  [[nodiscard]] static bool beyond_point(const Flight& flight, std::uint64_t una) noexcept {
    return flight.recovery_point == 0 || una > flight.recovery_point;
  }

  void enter(Flight& flight, std::uint64_t nxt, bool resend) noexcept {
    phase_ = Phase::kFast;
    flight.recovery_point = nxt;
    resend_first_ = resend;
  }
  void on_timeout(Flight& flight, std::uint64_t nxt) noexcept {
    phase_ = Phase::kAfterTimeout;
    flight.recovery_point = nxt;  // RFC 6675, 5.1
    resend_first_ = true;
  }
  /// Ends the recovery: everything up to the recovery point is acknowledged.
  void end() noexcept {
    phase_ = Phase::kOpen;
    resend_first_ = false;
  }

  /// Returns true if one lost segment may leave whatever the pipe (RFC 6675, 5 (4.3)).
  [[nodiscard]] bool resends_first() const noexcept { return resend_first_; }
  void resend_first() noexcept { resend_first_ = true; }
  void on_resent() noexcept { resend_first_ = false; }

  void begin_flight(Flight& flight, std::uint64_t una) const noexcept {
    flight.recovery_point = ended_here_ ? una : 0;
  }
  void end_flight(const Flight& flight, std::uint64_t una) noexcept {
    ended_here_ = una != 0 && flight.recovery_point == una;
  }

 private:
  enum class Phase : std::uint8_t { kOpen, kFast, kAfterTimeout };

  Phase phase_ : 2 = Phase::kOpen;
  bool resend_first_ : 1 = false;
  bool ended_here_ : 1 = false;  ///< nothing is in flight, the last recovery ends at una
};

}  // namespace outrider::tg
