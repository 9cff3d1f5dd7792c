#pragma once

#include <cstdint>

#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// The classic HyStart, as Linux's CUBIC has it: leaves slow start at once when a train of closely
/// spaced ACKs lasts longer than half the smallest round trip, which means that the window fills
/// the path, or when the round trips of a round have risen. Where round trips take 100 us, only the
/// train can end slow start: the smallest rise that counts is 4 ms.
///
/// Call on_ack() for every ACK in slow start; when it returns true, the controller sets ssthresh to
/// its window. Windows below kLowWindow never end slow start, but rounds begin there too, as in
/// Linux since "tcp_cubic: fix incorrect HyStart round start detection" (6.14, 6.1.129). Not
/// thread-safe, O(1), 40 bytes.
///
/// Source: Ha and Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55(9), 2011,
/// with the constants of Linux 6.1, tcp_cubic.c; the RTT thresholds are the settings of HyStart++.
/// Deviations: a round trip is that of the oldest segment that an ACK covers, Linux takes the
/// newest. After a reduction nothing is detected until the next time-out; Linux also looks in the
/// slow start after an idle time.
class ClassicHyStart {
 public:
  static constexpr std::uint32_t kLowWindow = 16;  ///< [segments], hystart_low_window
  static constexpr std::uint8_t kRttSamples = 8;   ///< HYSTART_MIN_SAMPLES
  static constexpr std::int64_t kRttDivisor = 8;
  static constexpr Duration kAckDelta = std::chrono::milliseconds(2);  ///< hystart_ack_delta_us
  /// The most time that segmentation offload at the sender may add to a train, and the bytes that
  /// it may send at once, of which four count (hystart_ack_delay()).
  static constexpr Duration kMaxOffload = std::chrono::milliseconds(1);
  static constexpr double kOffloadBytes = 4.0 * 65536;

  /// The window before an ACK.
  struct Window {
    std::uint32_t bytes;
    std::uint32_t ssthresh_bytes;
    std::uint32_t mss_bytes;  ///< of the connection
  };
  /// @return true if slow start must end
  [[nodiscard]] bool on_ack(const AckEvent& ack, Window window,
                            const ControllerConfig& config) noexcept;

 private:
  void begin_round(const AckEvent& ack) noexcept;
  [[nodiscard]] bool train_is_long(const AckEvent& ack, Window window) noexcept;
  [[nodiscard]] bool has_risen(Duration rtt, const ControllerConfig& config) noexcept;

  std::uint64_t round_end_ = 0;  ///< stream offset: the round ends after it
  Time round_start_{};
  Time last_of_train_{};
  std::uint32_t min_rtt_ns_ = UINT32_MAX;    ///< of all rounds
  std::uint32_t round_rtt_ns_ = UINT32_MAX;  ///< smallest of this round
  std::uint8_t samples_ = 0;                 ///< of this round, up to kRttSamples
};

}  // namespace outrider::tg
