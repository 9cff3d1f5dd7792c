#pragma once

#include <cstdint>

#include "trafficgen/transport/control/reno.h"

namespace outrider::tg {

/// TCP Prague: DCTCP's response to the share of marks, at a pace that depends on the round
/// trip R only above the virtual one, Rv = 25 ms. Below it, the window grows by (R / Rv)^2
/// segments a round trip, and both the estimate of marks and the reduction come once a
/// virtual round trip. So two flows that see the same marks get the same rate, whatever
/// their round trips: at a marking probability p the window is (1 + sqrt(3)) R / (Rv p)
/// segments if packets are marked independently of each other. Not thread-safe, O(1).
///
/// Source: draft-briscoe-iccrg-prague-congestion-control-04, section 2.3 (moving average of
/// the marks) and section 2.4: a loss falls back on Reno; a mark reduces by alpha / 2; what
/// is not marked goes on growing the window while it is reduced; reduced dependence on the
/// round trip. Alpha begins at dctcp_initial_alpha and stays there until the first mark; the
/// gain and the smallest window are those of DCTCP's settings too.
/// Deviations:
///  - packets are ECT(0), not ECT(1): the sender sets no other code point, so a queue that
///    tells L4S apart takes them for classic traffic;
///  - marks come by DCTCP's echo (RFC 8257), not by AccECN's counters;
///  - the dependence is reduced from the end of slow start on, not some hundred round trips
///    later;
///  - no fall-back where the queue that marks is a classic one, and pacing only by the
///    transport's setting.
class Prague final : public Reno {
 public:
  static constexpr Duration kVirtualRtt = std::chrono::milliseconds(25);

  /// @pre 0 < dctcp_gain <= 1, 0 <= dctcp_initial_alpha <= 1
  /// @param config must outlive the controller
  explicit Prague(const ControllerConfig& config) noexcept;
  explicit Prague(ControllerConfig&&) = delete;

  void on_ack(const AckEvent& ack) noexcept override;
  void on_congestion(Congestion kind, std::uint32_t in_flight_bytes, Time now) noexcept override;
  [[nodiscard]] double alpha() const noexcept { return alpha_; }  ///< estimate, in [0, 1]

 private:
  void measure(const AckEvent& ack) noexcept;
  /// Is the window to grow by a segment?
  [[nodiscard]] bool grows(const AckEvent& ack) noexcept;
  [[nodiscard]] bool in_slow_start() const noexcept { return cwnd_bytes() < ssthresh_bytes(); }

  float alpha_;
  float growth_ = 0;  ///< part of a segment by which the window is to grow; outlives reductions
  std::uint32_t acked_bytes_ = 0;   ///< in this virtual round trip
  std::uint32_t marked_bytes_ = 0;  ///< of these, with ECE
  Time round_end_{};
  Time reduced_at_{};  ///< by a mark; zero: there was none
};

}  // namespace outrider::tg
