#pragma once

#include <cstdint>

#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// The TIMELY controller: round trips, not marks, steer the window. Below `timely_t_low` it grows
/// by a step, above `timely_t_high` it shrinks in proportion to the excess, and between them the
/// gradient of the round trip decides. Marks do nothing.
///
/// Source: TIMELY (SIGCOMM 2015), section 4.3, algorithm 1, and its hyperactive increase (HAI).
/// Deviations:
///   - The paper sets a rate R that the NIC paces. Here a window of R times the shortest round trip
///     stands for it, so that the rate falls by itself when a queue grows. The smallest window is a
///     segment, so rates below a segment per round trip are not expressed.
///   - A completion event is a window of data acknowledged, not a segment of 16 to 64 kB, and its
///     round trip is the newest sample, with the time that the window needs on the host's link.
///   - The shortest round trip is the shortest measured one.
///   - Until the round trip first exceeds `timely_t_low` the window doubles per round trip.
///   - The paper's network is lossless. A loss that TCP repairs halves the window, a time-out
///     restarts it from a segment.
///
/// Not thread-safe, O(1).
class Timely final : public CongestionControl {
 public:
  // The paper's values, section 4.3.
  static constexpr double kBeta = 0.8;     ///< factor of reductions
  static constexpr double kAlpha = 0.875;  ///< weight of the newest difference of round trips
  static constexpr std::uint32_t kHaiCompletions = 5;  ///< calm ones before the rate grows faster
  static constexpr double kHaiSteps = 5;  ///< steps at a time of the hyperactive increase

  /// @pre 0 < timely_t_low <= timely_t_high, timely_step > 0
  /// @param config must outlive the controller
  Timely(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept;
  Timely(ControllerConfig&&, std::uint16_t) = delete;

  void on_ack(const AckEvent& ack) noexcept override;
  void on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept override;
  void on_timeout(std::optional<std::uint32_t> base_bytes, Time now) noexcept override;
  void on_idle(Duration idle, Duration rto) noexcept override;
  void on_unused(std::uint32_t) noexcept override {}
  void on_handshake_loss() noexcept override { set_window(0); }
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept override {
    return static_cast<std::uint32_t>(window_bytes_);
  }
  [[nodiscard]] std::uint32_t ssthresh_bytes() const noexcept override {
    return starting_ ? kMaxCongestionWindow : cwnd_bytes();
  }
  /// Returns the smoothed change of the round trip in units of the shortest one.
  [[nodiscard]] double gradient() const noexcept;

 private:
  void on_completion(Duration rtt, bool may_grow) noexcept;
  [[nodiscard]] double step_bytes() const noexcept;
  /// Sets the window, at least one segment.
  void set_window(double bytes) noexcept;

  const ControllerConfig& config_;
  double window_bytes_;
  double rtt_diff_ns_ = 0;        ///< smoothed
  Duration last_rtt_{};           ///< of the last completion; zero: none
  Duration min_rtt_{};            ///< zero: none
  std::uint64_t window_end_ = 0;  ///< stream offset: the next completion is after it
  std::uint16_t mss_;             ///< [bytes], of the connection
  std::uint32_t calm_ = 0;        ///< completions in a row with a gradient that was not positive
  bool starting_ = true;
};

}  // namespace outrider::tg
