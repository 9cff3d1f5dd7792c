#include "trafficgen/transport/connection/refusal.h"

namespace outrider::tg {
namespace {

/// Only a sender that knows the next byte may reset (RFC 5961, 3.2).
Refusal judge_reset(const TcpSegment& s, const ReceiveWindow& window, TcpEvents& events) noexcept {
  if (s.sequence == window.next_sequence()) return Refusal::kReset;
  if (window.contains(s.sequence)) {
    ++events.resets_refused;
    return Refusal::kChallenge;
  }
  ++events.out_of_window;
  return Refusal::kIgnore;
}

/// Judges a SYN by RFC 5961, 4.2. A repeated SYN of this connection's own handshake is no attack:
/// the peer missed our answer.
Refusal judge_syn(const TcpSegment& s, const ReceiveWindow& window, TcpEvents& events) noexcept {
  if (s.sequence == window.numbers().initial()) return Refusal::kAcknowledge;
  ++events.syns_refused;
  return Refusal::kChallenge;
}

}  // namespace

/// A segment with data is always acknowledged, because it may be a probe of a closed window. Others
/// are challenged at a limited rate; otherwise two desynchronised ends would answer each other for
/// ever.
Refusal judge_refused(const TcpSegment& s, const ReceiveWindow& window,
                      TcpEvents& events) noexcept {
  if (s.has(kTcpRst)) return judge_reset(s, window, events);
  if (s.has(kTcpSyn)) return judge_syn(s, window, events);
  if (!s.has(kTcpAck)) {
    ++events.without_ack;
    return Refusal::kIgnore;
  }
  ++events.out_of_window;
  return s.payload_bytes != 0 || s.has(kTcpFin) ? Refusal::kAcknowledge : Refusal::kChallenge;
}

}  // namespace outrider::tg
