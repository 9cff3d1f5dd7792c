#pragma once

#include <algorithm>
#include <cstdint>

#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// A controller that sends at a fixed rate whatever the network reports: a reliable stream that
/// does not yield. Marks, losses and time-outs do not change window or pace. Lost data is resent
/// within the same rate, in the order of RFC 6675, and the RTO still backs off, so that a dead path
/// is not flooded. CWR is sent after marks as usual, so that the peer's echo ends.
///
/// The Pacer spaces segments at `rate` of payload. The window only bounds the data in flight: it is
/// twice rate times srtt, so that it does not limit while round trips lengthen, and at least the
/// initial window. Not thread-safe, O(1).
class Unresponsive final : public CongestionControl {
 public:
  static constexpr double kWindowHeadroom = 2;

  /// @pre config.rate > 0
  /// @param config must outlive the controller
  Unresponsive(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept;
  Unresponsive(ControllerConfig&&, std::uint16_t) = delete;

  void on_ack(const AckEvent& ack) noexcept override;
  void on_congestion(Congestion, std::uint32_t, Time) noexcept override {}
  void on_timeout(std::optional<std::uint32_t>, Time) noexcept override {}
  void on_idle(Duration, Duration) noexcept override {}
  void on_unused(std::uint32_t) noexcept override {}
  void on_handshake_loss() noexcept override {}
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept override { return cwnd_; }
  [[nodiscard]] std::uint32_t ssthresh_bytes() const noexcept override { return cwnd_; }
  [[nodiscard]] BitRate fixed_rate() const noexcept override { return *config_.rate; }

 private:
  const ControllerConfig& config_;
  std::uint32_t cwnd_;
  std::uint16_t mss_;  ///< [bytes], of the connection
};

}  // namespace outrider::tg
