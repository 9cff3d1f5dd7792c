#pragma once

#include <cstdint>

#include "trafficgen/core/mltcp.h"
#include "trafficgen/transport/control/congestion_control.h"
#include "trafficgen/transport/control/hystart.h"

namespace outrider::tg {

/// Computes the growth in slow start, for all controllers, by appropriate byte counting. After a
/// time-out a cumulative ACK may cover data that was never lost, so the limit L falls from 2
/// segments to 1 until slow start ends (RFC 3465, 2.3).
class SlowStart {
 public:
  /// Returns the bytes by which the window grows (RFC 3465, 2.2).
  [[nodiscard]] std::uint32_t growth(std::uint32_t acked_bytes,
                                     std::uint32_t mss_bytes) const noexcept {
    const std::uint32_t limit = limit_segments_ * mss_bytes;
    return acked_bytes < limit ? acked_bytes : limit;
  }
  void on_timeout() noexcept { limit_segments_ = 1; }
  void on_end() noexcept { limit_segments_ = 2; }

 private:
  std::uint8_t limit_segments_ = 2;
};

/// Distinguishes a first time-out from a repeated one of the same segment, for which ssthresh stays
/// (RFC 5681, section 3.1, after equation 4).
class TimeoutHistory {
 public:
  void on_ack(std::uint64_t snd_una) noexcept {
    const auto low = static_cast<std::uint32_t>(snd_una);
    if (low != low_snd_una_) repeated_ = false;
    low_snd_una_ = low;
  }
  /// Notes a time-out. @return true if this segment has timed out before
  bool on_timeout() noexcept {
    const bool before = repeated_;
    repeated_ = true;
    return before;
  }

 private:
  std::uint32_t low_snd_una_ = 0;  ///< 32 bits suffice to tell neighbours: windows are below 2^31
  bool repeated_ = false;
};

/// The Reno controller: RFC 5681 with appropriate byte counting (RFC 3465), and HyStart++ (RFC
/// 9406) where configured. With MLTCP the increase of congestion avoidance is scaled, slow start is
/// not. The sender implements recovery (RFC 6675). Not thread-safe, O(1).
class Reno : public CongestionControl {
 public:
  /// @pre mss_bytes > 0
  /// @param config must outlive the controller
  Reno(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept;
  Reno(ControllerConfig&&, std::uint16_t) = delete;

  void on_ack(const AckEvent& ack) noexcept override;
  void on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept override;
  void on_timeout(std::optional<std::uint32_t> base_bytes, Time now) noexcept override;
  void on_idle(Duration idle, Duration rto) noexcept override;
  void on_unused(std::uint32_t used_bytes) noexcept override;
  void on_handshake_loss() noexcept override { cwnd_ = mss(); }
  void note_share(double share) noexcept override { growth_.note_share(share); }
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept override { return cwnd_; }
  [[nodiscard]] std::uint32_t ssthresh_bytes() const noexcept override { return ssthresh_; }

 protected:
  [[nodiscard]] const ControllerConfig& config() const noexcept { return config_; }
  /// Sets window and threshold, at least `min_segments`.
  void reduce_to(std::uint32_t bytes, std::uint32_t min_segments = 2) noexcept;

 private:
  void grow_in_slow_start(std::uint32_t acked_bytes) noexcept;
  /// Returns true in the first slow start if HyStart++ is configured (RFC 9406, 4.2).
  [[nodiscard]] bool uses_hystart() const noexcept {
    return config_.hystart == HyStartKind::kRfc9406 && ssthresh_ == kMaxCongestionWindow;
  }
  [[nodiscard]] std::uint32_t mss() const noexcept { return mss_; }

  const ControllerConfig& config_;
  std::uint32_t cwnd_;
  std::uint32_t ssthresh_ = kMaxCongestionWindow;  ///< RFC 5681, 3.1: arbitrarily high
  std::uint32_t bytes_acked_ = 0;                  ///< since the window last grew (RFC 3465, 2.1)
  std::uint16_t mss_;                              ///< [bytes], of the connection
  SlowStart slow_start_;
  MltcpGrowth growth_;
  TimeoutHistory timeouts_;
  HyStart hystart_;
};

}  // namespace outrider::tg
