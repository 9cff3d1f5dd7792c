#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "trafficgen/transport/control/controllers.h"

namespace outrider::tg {

/// The content of one cumulative acknowledgment, for a controller.
struct AckEvent {
  Time now{};
  std::uint32_t acked_bytes = 0;      ///< newly acknowledged, cumulatively or by SACK
  std::uint32_t ece_bytes = 0;        ///< of these, acknowledged with ECE set
  std::uint32_t in_flight_bytes = 0;  ///< before this ACK
  Duration srtt{};                    ///< zero until the first sample
  Duration rtt{};                     ///< sample that this ACK gave, zero: none
  std::uint64_t snd_una = 0;          ///< stream offset after this ACK
  std::uint64_t snd_nxt = 0;          ///< stream offset
  bool in_recovery = false;           ///< loss recovery or CWR state: the window must not grow
  bool in_loss_recovery = false;      ///< loss recovery alone: no controller's window grows
  bool paced = false;                 ///< the sender spreads its window over the round trip
  bool cwnd_limited = false;          ///< the window, not the application, held the sender back
};

/// Decides the congestion window. It never sends and never reads a clock. Each connection has one
/// object, which its sender calls as follows: on_ack for every ACK that acknowledges new data,
/// on_congestion once per window in which loss or ECE was seen, on_timeout per RTO, on_idle when
/// the first data follows an idle time longer than the RTO, on_unused where that is configured;
/// on_handshake_loss before all of these. Controllers own nothing: they live in a ControllerSlot
/// and need no destruction.
class CongestionControl {
 public:
  virtual void on_ack(const AckEvent& ack) noexcept = 0;
  enum class Congestion : std::uint8_t { kLoss, kEce };
  /// @param base_bytes what ssthresh is a share of: the data in flight, or the window
  virtual void on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept = 0;
  /// @param base_bytes the same; absent: ssthresh stays
  virtual void on_timeout(std::optional<std::uint32_t> base_bytes, Time now) noexcept = 0;
  /// Restarts the window, see restart_window(). @pre idle > rto
  virtual void on_idle(Duration idle, Duration rto) noexcept = 0;
  /// The window was not needed for an RTO, see lower_unused_window().
  /// @param used_bytes the most that was outstanding in that time
  virtual void on_unused(std::uint32_t used_bytes) noexcept = 0;
  /// A SYN or SYN-ACK of this end timed out: begin with one segment (RFC 5681, 3.1).
  virtual void on_handshake_loss() noexcept = 0;
  /// Growth from now on is that of MLTCP at this share of a burst, see MltcpGrowth. Controllers
  /// whose row does not say `mltcp` ignore it.
  virtual void note_share(double /*share*/) noexcept {}

  [[nodiscard]] virtual std::uint32_t cwnd_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t ssthresh_bytes() const noexcept = 0;
  /// Returns the payload rate that the sender must keep; zero if only the window limits it.
  [[nodiscard]] virtual BitRate fixed_rate() const noexcept { return {}; }
  /// Returns the estimate of the share of marked data, in [0, 1], if the controller has one.
  [[nodiscard]] virtual std::optional<double> alpha() const noexcept { return std::nullopt; }

 protected:
  CongestionControl() = default;
  ~CongestionControl() = default;
  CongestionControl(const CongestionControl&) = default;
  CongestionControl& operator=(const CongestionControl&) = default;
};

/// What may end slow start before a loss or a mark does.
enum class HyStartKind : std::uint8_t {
  kOff,
  kRfc9406,  ///< HyStart++, in the first slow start
  kLinux,    ///< the classic one, for kCubic alone, as in Linux
};

/// How a window restarts after an idle time, see restart_window().
enum class IdleRestart : std::uint8_t {
  kRfc5681,  ///< at once from the initial window
  kLinux,    ///< by a half for each RTO; ssthresh remembers three quarters
};

/// Largest rise of the round trip that HyStart asks for: RFC 9406, 4.3, and Linux.
inline constexpr Duration kHyStartMaxRttThreshold = std::chrono::milliseconds(16);

/// Settings of a controller, shared by all connections of a transport. The size of a segment is not
/// among them: it is the connection's, and each controller is made with it.
struct ControllerConfig {
  Controller controller = Controller::kCubic;
  /// > 0; absent: by RFC 6928, see initial_window_bytes().
  std::optional<std::uint32_t> initial_window_segments{};
  /// Marks never reduce the window below this. RFC 8257 gives no value, RFC 5681 has 2 for losses.
  std::uint32_t dctcp_min_window_segments = 2;  ///< >= 1
  HyStartKind hystart = HyStartKind::kOff;
  /// RFC 9406, 4.3; in (0, kHyStartMaxRttThreshold].
  Duration hystart_min_rtt_threshold = std::chrono::milliseconds(4);
  IdleRestart idle_restart = IdleRestart::kRfc5681;
  /// TIMELY's thresholds of the round trip, 0 < low <= high; additive step of the rate, > 0.
  Duration timely_t_low = std::chrono::microseconds(50);
  Duration timely_t_high = std::chrono::microseconds(500);
  BitRate timely_step{10'000'000};
  std::optional<BitRate> rate{};  ///< of payload, for kUnresponsive only
};

/// The largest window that can be advertised (RFC 7323, 2.3), which no window exceeds [bytes].
inline constexpr std::uint32_t kMaxCongestionWindow = 1U << 30;

/// Returns the initial window [bytes]: as many full segments as the setting says; without it ten,
/// of segments beyond 1,460 bytes as many as fit 14,600 bytes, but at least two (RFC 6928, section
/// 2).
constexpr std::uint32_t initial_window_bytes(const ControllerConfig& config,
                                             std::uint32_t mss_bytes) noexcept {
  if (config.initial_window_segments) return *config.initial_window_segments * mss_bytes;
  return std::min(10 * mss_bytes, std::max(2 * mss_bytes, 14'600U));
}

}  // namespace outrider::tg
