#pragma once

#include <cstdint>

#include "common/net/tcp_segment.h"
#include "trafficgen/transport/base/timestamps.h"

namespace outrider::tg {

/// The state of a connection in TIME-WAIT, after its own end closed first. It is enough to
/// acknowledge the peer's FIN again and to distinguish a new connection's SYN from an old
/// duplicate. It only decides; the TimeWaitTable keeps it.
///
/// Source: RFC 9293, 3.6.1 and 3.10.7.4 (TIME-WAIT), RFC 6191 (timestamps), RFC 5961 (resets).
/// Deviation: segments without data, SYN or FIN are not answered, because two old ends would answer
/// each other.
struct TimeWait {
  std::uint32_t sequence = 0;  ///< our next number
  std::uint32_t expected = 0;  ///< the peer's next number
  std::uint32_t ts_recent = 0;
  std::uint16_t window = 0;  ///< scaled
  bool timestamps = false;   ///< negotiated

  enum class Verdict : std::uint8_t {
    kIgnore,
    kAcknowledge,  ///< and restart the wait
    kForget,       ///< the peer reset the connection
    kReuse,        ///< a new connection of the same flow begins
  };
  [[nodiscard]] Verdict judge(const TcpSegment& s) const noexcept {
    if (s.has(kTcpRst)) return s.sequence == expected ? Verdict::kForget : Verdict::kIgnore;
    if (s.has(kTcpSyn)) return newer(s) ? Verdict::kReuse : Verdict::kAcknowledge;
    return s.payload_bytes != 0 || s.has(kTcpFin) ? Verdict::kAcknowledge : Verdict::kIgnore;
  }

  [[nodiscard]] TcpSegment acknowledgment(Time now) const noexcept {
    TcpSegment s{
        .sequence = sequence, .acknowledgment = expected, .flags = kTcpAck, .window = window};
    s.has_timestamps = timestamps;
    if (timestamps) s.ts_value = TimestampClock::at(now);
    if (timestamps) s.ts_echo = ts_recent;
    return s;
  }

 private:
  /// Returns true if the SYN is newer: RFC 6191, section 2, without its cases for hosts whose
  /// clocks jump.
  [[nodiscard]] bool newer(const TcpSegment& syn) const noexcept {
    if (syn.has(kTcpAck)) return false;
    if (timestamps && syn.has_timestamps && syn.ts_value != ts_recent)
      return TimestampClock::before(ts_recent, syn.ts_value);
    return static_cast<std::int32_t>(syn.sequence - expected) > 0;
  }
};

}  // namespace outrider::tg
