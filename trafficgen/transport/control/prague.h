#pragma once

#include <cstdint>

#include "trafficgen/transport/control/dctcp.h"
#include "trafficgen/transport/control/reno.h"

namespace outrider::tg {

/// The TCP Prague controller: DCTCP's response to the share of marks, at a pace that depends on the
/// round trip R only above a virtual one, Rv = 25 ms. Below Rv, the window grows by (R / Rv)^2
/// segments per round trip, and the estimate of marks and the reduction both come once per virtual
/// round trip. Two flows that see the same marks therefore get the same rate, whatever their round
/// trips: at a marking probability p the window is (1 + sqrt(3)) R / (Rv p) segments if packets are
/// marked independently of each other. Not thread-safe, O(1).
///
/// Source: draft-briscoe-iccrg-prague-congestion-control-04, section 2.3 (moving average of the
/// marks) and section 2.4: a loss falls back on Reno; a mark reduces by alpha / 2; unmarked data
/// grows the window even while it is reduced; the dependence on the round trip is reduced. Alpha
/// begins at 1 and stays there until the first mark. The gain and the smallest window are also
/// DCTCP's. Deviations:
///   - Packets are ECT(0), not ECT(1): the sender sets no other code point, so a queue that
///     distinguishes L4S takes them for classic traffic.
///   - Marks are reported by DCTCP's echo (RFC 8257), not by AccECN's counters.
///   - The dependence is reduced from the end of slow start on, not some hundred round trips
///     later.
///   - There is no fall-back where the marking queue is a classic one, and pacing only by the
///     transport's setting.
class Prague final : public Reno {
 public:
  static constexpr Duration kVirtualRtt = std::chrono::milliseconds(25);

  /// @param config must outlive the controller
  Prague(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept;
  Prague(ControllerConfig&&, std::uint16_t) = delete;

  void on_ack(const AckEvent& ack) noexcept override;
  void on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept override;
  [[nodiscard]] std::optional<double> alpha() const noexcept override { return alpha_; }

 private:
  void measure(const AckEvent& ack) noexcept;
  /// Returns true if the window must grow by a segment.
  [[nodiscard]] bool grows(const AckEvent& ack) noexcept;
  [[nodiscard]] bool in_slow_start() const noexcept { return cwnd_bytes() < ssthresh_bytes(); }

  float alpha_ = Dctcp::kInitialAlpha;
  float growth_ = 0;  ///< share of a segment that the window has yet to grow; outlives reductions
  std::uint32_t acked_bytes_ = 0;   ///< in this virtual round trip
  std::uint32_t marked_bytes_ = 0;  ///< of these, with ECE
  Time round_end_{};
  Time reduced_at_{};  ///< when a mark reduced last; zero: never
};

}  // namespace outrider::tg
