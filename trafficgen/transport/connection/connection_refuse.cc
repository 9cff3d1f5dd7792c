// Segments of an established connection that are not taken at their word: RFC 9293,
// 3.10.7.4, first, second and fourth check, as RFC 5961 tightens them.
#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

void TcpConnection::challenge(Time now) noexcept {
  TcpEvents& events = context().memory.events;
  if (context().memory.challenge_acks.take(now)) {
    ++events.challenge_acks;
    receiver_.acknowledge_now();
  } else {
    ++events.challenge_acks_withheld;
  }
}

/// RFC 5961, 3.2: only who knows the next byte may reset.
void TcpConnection::on_reset(const TcpSegment& s, Time now) noexcept {
  TcpEvents& events = context().memory.events;
  if (s.sequence == receiver_.next_sequence()) {
    if (state_ != State::kClosed) finish(State::kReset, now);
  } else if (receiver_.in_window(s.sequence)) {
    ++events.resets_refused;
    if (state_ != State::kSynReceived) challenge(now);
  } else {
    ++events.out_of_window;
  }
}

/// RFC 5961, 4.2. A repeated SYN of this connection's own handshake is no attack: the
/// peer missed our answer.
void TcpConnection::on_syn_in_connection(const TcpSegment& s, Time now) noexcept {
  if (s.sequence == receiver_.initial_sequence()) return receiver_.acknowledge_now();
  ++context().memory.events.syns_refused;
  challenge(now);
}

/// Without ACK, or not acceptable. Who sends data is answered in any case, as it may be a
/// probe of a closed window; others are challenged, or two lost ends would not be silent.
void TcpConnection::refuse(const TcpSegment& s, Time now) noexcept {
  TcpEvents& events = context().memory.events;
  if (!s.has(kTcpAck)) {
    ++events.without_ack;
    return;
  }
  ++events.out_of_window;
  // A closed window takes the acknowledgment of a probe, not its data (3.10.7.4).
  if (s.sequence == receiver_.next_sequence()) (void)sender_.on_ack(s, now, true);
  if (s.payload_bytes != 0 || s.has(kTcpFin)) receiver_.acknowledge_now();
  else challenge(now);
}

}  // namespace outrider::tg
