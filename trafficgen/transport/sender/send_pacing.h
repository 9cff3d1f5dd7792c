#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "trafficgen/transport/sender/congestion_window.h"
#include "trafficgen/transport/sender/pacer.h"

namespace outrider::tg {

/// Paces a sender: segments leave at a rate instead of whenever an ACK allows them. It tracks
/// whether the pace is what holds the sender back. Not thread-safe.
class SendPacing {
 public:
  /// Pace as a multiple of the window per round trip, as in Linux (tcp_pacing_ss_ratio,
  /// tcp_pacing_ca_ratio): the first in slow start below half of ssthresh, the second above.
  static constexpr double kInSlowStart = 2.0;
  static constexpr double kAbove = 1.2;
  /// The largest lateness of a busy NIC or a late poll that is compensated.
  static constexpr Duration kCatchUp = std::chrono::microseconds(100);

  explicit SendPacing(bool paced) noexcept : paced_(paced) {}

  [[nodiscard]] bool paced() const noexcept { return paced_; }
  /// Returns when the next segment may leave; kNever if the pace is not what holds it.
  [[nodiscard]] Time release() const noexcept { return held_ ? pacer_.next_release() : kNever; }

  /// Returns the rate; zero before the first round trip was measured: then nothing is paced.
  [[nodiscard]] static BitRate rate(const CongestionWindow& window, Duration srtt) noexcept;

  /// @param may a segment could leave if there were no pace
  [[nodiscard]] bool allows(bool may, Time now) noexcept;
  void end_hold(Time now) noexcept;
  /// Notes a departure. A tail loss probe leaves whatever the pace, and does not change it.
  void on_sent(std::uint32_t payload_bytes, const CongestionWindow& window, Duration srtt,
               Time now) noexcept;

 private:
  Pacer pacer_;
  bool paced_ : 1;
  bool held_ : 1 = false;  ///< only the pace holds a segment back
  bool late_ : 1 = false;  ///< the last hold is over, but its owner sends late
};

}  // namespace outrider::tg
