#pragma once

#include <cstdint>

#include "trafficgen/transport/control/reno.h"

namespace outrider::tg {

/// The DCTCP controller, which reacts to the share of marked bytes instead of to a single mark.
/// Growth, loss and time-outs are Reno's (RFC 8257, sections 3.3 and 3.5).
///
/// Source: RFC 8257, section 3.3; the smallest window to which marks reduce is a setting.
/// Deviation: bytes that SACK acknowledges count for the estimate when they are first reported, not
/// when the hole is filled.
class Dctcp final : public Reno {
 public:
  static constexpr double kGain = 1.0 / 16;  ///< g of RFC 8257, section 4.2
  /// Section 3.3: the first marks halve the window, as there is no estimate yet.
  static constexpr double kInitialAlpha = 1;

  /// @param config must outlive the controller
  Dctcp(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept;
  Dctcp(ControllerConfig&&, std::uint16_t) = delete;

  void on_ack(const AckEvent& ack) noexcept override;
  void on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept override;
  [[nodiscard]] std::optional<double> alpha() const noexcept override { return alpha_; }

 private:
  double alpha_ = kInitialAlpha;
  std::uint64_t window_end_ = 0;    ///< stream offset: the observation window ends after it
  std::uint32_t acked_bytes_ = 0;   ///< in this observation window, at most about a window
  std::uint32_t marked_bytes_ = 0;  ///< of these, with ECE
};

}  // namespace outrider::tg
