#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// What happens to a connection between two bursts.
enum class ConnectionReuse : std::uint8_t {
  kNew,          ///< a new connection, with its handshake, per burst
  kIdleRestart,  ///< kept; the window restarts after an idle RTO (RFC 5681, 4.1)
  kKeep,         ///< kept, with its window
};

/// How a sender detects that a segment is lost.
enum class LossDetection : std::uint8_t {
  kRfc6675,  ///< three segments above it are SACKed; a lost tail waits for the RTO
  kRackTlp,  ///< RFC 8985: a segment that left later has arrived; the tail is probed
};

/// Whose choices the settings of a transport begin with, see use_stack().
enum class TcpStack : std::uint8_t {
  kRfc,    ///< the RFCs of the basic mechanisms
  kLinux,  ///< Linux 6.1
};

/// How a window is reduced after a loss or a mark.
enum class WindowReduction : std::uint8_t {
  kAtOnce,  ///< nothing leaves until the data in flight fits the reduced window (RFC 6675)
  kPrr,     ///< RFC 9937: the data in flight falls in proportion to what arrives
};

/// How the retransmission time-out follows from round trips, see RtoEstimator.
enum class RtoRule : std::uint8_t {
  kRfc6298,  ///< four mean deviations above the mean, at least min_rto
  kLinux,    ///< the largest deviation above the mean, which is at least min_rto
};

/// The bytes that a reduction of the window is a share of, see
/// CongestionWindow::reduction_base_bytes().
enum class SsthreshBase : std::uint8_t {
  kFlight,  ///< the data in flight (RFC 5681, equation 4), at most the window
  kWindow,  ///< the window; a time-out within a recovery or reduction leaves ssthresh
};

/// What a retransmission that is lost again means for the window.
enum class LostRetransmission : std::uint8_t {
  kReduces,  ///< one more reduction (RFC 5681, 4.3)
  kLinux,    ///< none in a recovery; after a time-out, a recovery with its reduction
};

/// What becomes of a window that is not filled.
enum class WindowUse : std::uint8_t {
  kOff,    ///< it does not grow
  kLinux,  ///< it falls too, see WindowValidation
};

/// How long a sender waits before it probes a lost tail.
enum class TailProbe : std::uint8_t {
  kRfc8985,  ///< two round trips; for a lone segment also the longest delay of its ACK
  kLinux,    ///< two round trips and two ticks of 4 ms; for a lone segment and `min_rto`
};

/// How many segments leave at once.
enum class SegmentJoining : std::uint8_t {
  kOff,    ///< as many as an acknowledgment allows
  kLinux,  ///< see SegmentBursts
};

/// One profile of transport settings, shared by both ends of a connection.
struct TcpConfig {
  ControllerConfig control;
  /// Payload of a full segment, at most: less if the peer accepts less, or with timestamps.
  std::uint32_t mss_bytes = 1448;
  TcpStack stack = TcpStack::kRfc;  ///< for the record: each setting stands for itself
  bool ecn = true;                  ///< negotiate and obey ECN
  bool obey_ece = true;             ///< false: a sender that is ECT but ignores marks
  /// Priority of all packets in pause frames (PFC), which stop them; absent: nothing does.
  std::optional<std::uint8_t> priority{};
  ConnectionReuse reuse = ConnectionReuse::kIdleRestart;
  Duration min_rto = std::chrono::milliseconds(200);  ///< > 0
  RtoRule rto = RtoRule::kRfc6298;
  Duration initial_rto = std::chrono::seconds(1);  ///< RFC 6298, 2.1
  Duration max_rto = std::chrono::seconds(60);
  Duration delayed_ack = std::chrono::milliseconds(40);  ///< > 0, longest wait
  std::uint32_t ack_every_segments = 2;                  ///< >= 1 (RFC 5681, 4.2: at most 2)
  /// ACKs at the begin of a connection that each acknowledge a single segment; < 32.
  std::uint32_t quick_acks = 0;
  std::uint32_t receive_buffer_bytes = 4U << 20;  ///< > 0
  /// Rate at which the application reads data that has arrived in order; absent: at once.
  std::optional<BitRate> read_rate{};
  bool pacing = false;  ///< spread the window over the round trip; `unresponsive` always does
  bool sack = true;     ///< offer and accept SACK (RFC 2018)
  LossDetection loss_detection = LossDetection::kRfc6675;
  TailProbe tail_probe = TailProbe::kRfc8985;  ///< with RACK-TLP
  WindowReduction reduction = WindowReduction::kAtOnce;
  SsthreshBase ssthresh_base = SsthreshBase::kFlight;
  LostRetransmission lost_retransmission = LostRetransmission::kReduces;
  WindowUse window_validation = WindowUse::kOff;
  SegmentJoining segment_bursts = SegmentJoining::kOff;
  bool mltcp = false;  ///< MLTCP scales the controller's growth, for bursts of jobs alone
  /// How long an end that closed first stays in TIME-WAIT; zero: not at all.
  Duration time_wait = std::chrono::seconds(1);
  bool timestamps = false;  ///< offer and accept RFC 7323's; take 12 bytes of mss_bytes
};

}  // namespace outrider::tg
