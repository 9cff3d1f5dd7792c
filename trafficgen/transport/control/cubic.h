#pragma once

#include <cstdint>
#include <variant>

#include "trafficgen/transport/control/classic_hystart.h"
#include "trafficgen/transport/control/reno.h"

namespace outrider::tg {

/// W_cubic and the values that it is compared with (RFC 9438, 4.2 and 4.3).
struct CubicCurve {
  double w_max = 0;       ///< window before the last reduction [segments]
  double cwnd_prior = 0;  ///< same, not lowered by fast convergence
  double w_est = 0;       ///< window that Reno would have now [segments]
  double k = 0;           ///< time to reach w_max [s]
  Duration elapsed{};     ///< t of this epoch
};

/// The CUBIC controller. As in the RFC's formulas, windows inside are in segments and time is in
/// seconds. Not thread-safe, O(1); one cbrt() per congestion event.
///
/// Source: RFC 9438 with C = 0.4 and beta = 0.7, Reno-friendly region and fast
/// convergence, and HyStart++ (4.10) where configured. Deviation: t counts only time
/// in which the window was the limit, and at most one srtt between two ACKs, so
/// that idle time does not grow the window (5.8).
///
/// With MLTCP what congestion avoidance adds for an ACK is scaled: to the window, and to that which
/// Reno would have. The curve itself, which is one of time, is not.
///
/// With the classic HyStart it also does what goes with it in Linux 6.1 (tcp_cubic.c): slow start
/// grows by all that is acknowledged; a time-out forgets the curve and looks for the end of slow
/// start anew; and a window that nothing has reduced since grows by a twentieth per round trip at
/// least, because HyStart may have stopped it far below what the path can carry. In the
/// Reno-friendly region alpha stays what it is, however large the window has become. t stands
/// still only while nothing is sent: it goes on in slow start after an idle time, and where the
/// window is not the limit.
class Cubic final : public CongestionControl {
 public:
  static constexpr double kC = 0.4;
  static constexpr double kBeta = 0.7;
  /// The additive increase with which the average window equals Reno's (4.3).
  static constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);
  /// Linux's growth per round trip until the first reduction.
  static constexpr double kUnreducedGrowth = 1.0 / 20;

  /// @pre mss_bytes > 0
  /// @param config must outlive the controller
  Cubic(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept;
  Cubic(ControllerConfig&&, std::uint16_t) = delete;

  void on_ack(const AckEvent& ack) noexcept override;
  void on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept override;
  void on_timeout(std::optional<std::uint32_t> base_bytes, Time now) noexcept override;
  void on_idle(Duration idle, Duration rto) noexcept override;
  void on_unused(std::uint32_t used_bytes) noexcept override;
  void on_handshake_loss() noexcept override { cwnd_ = 1; }
  void note_share(double share) noexcept override { growth_.note_share(share); }
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept override;
  [[nodiscard]] std::uint32_t ssthresh_bytes() const noexcept override { return ssthresh_; }

  [[nodiscard]] double k_seconds() const noexcept { return curve().k; }
  [[nodiscard]] double w_max_segments() const noexcept { return curve().w_max; }

 private:
  /// Returns the window at time t [s] of this epoch [segments]; 4.2, equation (1).
  [[nodiscard]] double w_cubic(double t) const noexcept;
  void begin_epoch() noexcept;
  void avoid_congestion(double acked_segments, Duration srtt) noexcept;
  /// Returns the new ssthresh after a congestion event [bytes].
  [[nodiscard]] std::uint32_t reduced(std::uint32_t base_bytes) const noexcept;

  [[nodiscard]] const CubicCurve& curve() const noexcept {
    static constexpr CubicCurve kNone;
    const CubicCurve* c = std::get_if<CubicCurve>(&shape_);
    return c == nullptr ? kNone : *c;
  }
  /// Returns the curve, and ends HyStart if it still runs.
  CubicCurve& curve() noexcept {
    CubicCurve* c = std::get_if<CubicCurve>(&shape_);
    return c == nullptr ? shape_.emplace<CubicCurve>() : *c;
  }

  enum class Epoch : std::uint8_t {
    kNone,     ///< slow start, or no epoch yet: K = 0 from here (4.8, 4.10)
    kReduced,  ///< a congestion event set w_max: K is computed at the next ACK
    kRunning,
  };

  void grow_in_slow_start(std::uint32_t acked_bytes) noexcept;
  void detect_slow_starts_end(const AckEvent& ack) noexcept;
  void begin_slow_start() noexcept;
  [[nodiscard]] bool like_linux() const noexcept { return config_.hystart == HyStartKind::kLinux; }
  [[nodiscard]] double mss() const noexcept { return mss_; }

  const ControllerConfig& config_;
  double cwnd_;  ///< [segments]
  /// HyStart while slow start uses it, afterwards the curve.
  std::variant<CubicCurve, HyStart, ClassicHyStart> shape_;
  Time last_ack_{};
  std::uint32_t ssthresh_ = kMaxCongestionWindow;
  Epoch epoch_ = Epoch::kNone;
  bool reduced_ = false;  ///< since the begin or the last time-out
  SlowStart slow_start_;
  MltcpGrowth growth_;
  [[no_unique_address]] TimeoutHistory timeouts_;
  std::uint16_t mss_;  ///< [bytes], of the connection; in the padding of timeouts_
};

}  // namespace outrider::tg
