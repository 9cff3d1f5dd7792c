#pragma once

#include <cstdint>

#include "trafficgen/roce/control/rate_controller.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// Swift: a window that grows by a packet in a round trip while round trips are below a target, and
/// shrinks by how far they are above it, once in a round trip and by kMaxDecrease at most. The
/// target is `base_target` and a part that is larger for smaller windows (flow scaling), so that
/// many flows share a link fairly. A window below one packet is a pause between packets.
///
/// Source: Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the
/// Datacenter, SIGCOMM 2020, section 3, algorithm 1. Deviations: there is one window, that of the
/// fabric, because hosts here have no stack in which packets wait; `base_target` holds for all
/// paths, where the paper adds a part for each hop; the newest round trip is the one that counts,
/// without smoothing; the first window is what the link carries in `base_target`, as RDMA begins at
/// the link's rate; a queue pair gives up by its own rule (`retry_limit`).
class Swift final : public RateController {
 public:
  // The paper's values, section 3.2.
  static constexpr double kAdditiveIncrease = 1;  ///< ai: packets in a round trip
  static constexpr double kBeta = 0.8;            ///< weight of what is above the target
  static constexpr double kMaxDecrease = 0.5;     ///< max_mdf: most that one decrease takes

  /// @param config must outlive the controller
  Swift(const SwiftConfig& config, const SendPath& path) noexcept;

  [[nodiscard]] double rate_bps(Time /*now*/) noexcept override { return pace_bps(); }
  void on_ack(const RateSample& sample, Time now) noexcept override;
  void on_loss(Time now) noexcept override;
  void on_timeout(Time now) noexcept override;
  [[nodiscard]] bool reads_acks() const noexcept override { return true; }
  [[nodiscard]] std::uint32_t window_packets() const noexcept override;
  [[nodiscard]] RateState state(Time now) const noexcept override;

  /// Returns the window [packets], which may be below 1.
  [[nodiscard]] double window() const noexcept { return window_; }
  /// Returns the round trip that the window is to reach.
  [[nodiscard]] Duration target() const noexcept;

 private:
  [[nodiscard]] double pace_bps() const noexcept;
  [[nodiscard]] bool may_decrease(Time now) const noexcept { return now - decreased_at_ >= rtt_; }
  void decrease_by(double share, Time now) noexcept;

  const SwiftConfig& config_;
  SendPath path_;
  double slope_ns_;   ///< of flow scaling: alpha
  double offset_ns_;  ///< beta
  double window_;
  Duration rtt_{};  ///< the newest; 0: none yet
  Time decreased_at_{};
  std::uint32_t timeouts_ = 0;  ///< in a row
};

}  // namespace outrider::tg
