#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "trafficgen/transport/sender/congestion_window.h"
#include "trafficgen/transport/sender/pacer.h"

namespace outrider::tg {

/// Pacing in the sender: segments leave at a rate instead of when an ACK lets them. Keeps
/// apart whether it is the pace that holds the sender back. Not thread-safe.
class SendPacing {
 public:
  /// Of the window per round trip, as Linux paces: in slow start below half of ssthresh,
  /// and above (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
  static constexpr double kInSlowStart = 2.0;
  static constexpr double kAbove = 1.2;
  /// A busy NIC's or a late poll's lateness that is made up for.
  static constexpr Duration kCatchUp = std::chrono::microseconds(100);

  explicit SendPacing(bool paced) noexcept : paced_(paced) {}

  [[nodiscard]] bool paced() const noexcept { return paced_; }
  /// When the next segment may leave; kNever if it is not the pace that holds it.
  [[nodiscard]] Time release() const noexcept { return held_ ? pacer_.next_release() : kNever; }

  /// @param may whether a segment could leave but for its pace
  [[nodiscard]] bool allows(bool may, Time now) noexcept;
  void end_hold(Time now) noexcept;
  /// A tail loss probe leaves whatever the pace, and changes none.
  void on_sent(std::uint32_t payload_bytes, const CongestionWindow& window, Duration srtt,
               Time now) noexcept;

 private:
  Pacer pacer_;
  bool paced_ : 1;
  bool held_ : 1 = false;  ///< ready but for the pace
  bool late_ : 1 = false;  ///< was, and its owner is the later one
};

}  // namespace outrider::tg
