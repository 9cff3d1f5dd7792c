// SYN, SYN-ACK, ACK: RFC 9293, section 3.5, with the options of RFC 2018 and
// RFC 7323 and the ECN negotiation of RFC 3168, section 6.1.1.
#include <algorithm>
#include <cassert>

#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

void TcpConnection::handshake_segment(TcpSegment& s, Time now) noexcept {
  const bool client = state_ == State::kSynSent;
  assert(client || state_ == State::kSynReceived);
  s.sequence = sender_.stream().initial_sequence();
  s.flags = kTcpSyn;
  s.window = receiver_.syn_window();
  s.mss = static_cast<std::uint16_t>(config().control.mss_bytes + option_bytes_);
  if (client || peer_scales_) s.window_scale = receiver_.window_scale();
  s.sack_permitted = client ? config().sack : peer_sack_;
  if (client ? config().timestamps : receiver_.timestamps()) {
    receiver_.stamp(s, now);  // the echo, once the peer has told
    s.has_timestamps = true;
    s.ts_value = TimestampClock::at(now);
  }
  if (client) {
    if (config().ecn) s.flags |= kTcpEce | kTcpCwr;
  } else {
    s.acknowledgment = receiver_.next_sequence();
    s.flags |= kTcpAck;
    if (ecn_) s.flags |= kTcpEce;
  }
  assert(sender_.timer().deadline() == kNever);
  sender_.timer().set(now + handshake_rto());
  syn_due_ = false;
}

void TcpConnection::on_handshake_segment(const TcpSegment& s, Time now) noexcept {
  const bool ack = s.has(kTcpAck);
  if (s.has(kTcpRst)) {  // 3.10.7.3 and 3.10.7.4: only from somebody who knows our SYN
    if (state_ == State::kSynReceived) return on_reset(s, now);
    const bool valid = state_ == State::kSynSent && ack &&
                       s.acknowledgment == sender_.stream().initial_sequence() + 1;
    if (valid) finish(State::kReset, now);
    else count_unexpected();
    return;
  }
  switch (state_) {
    case State::kIdle:
      if (role_ == Role::kServer && s.has(kTcpSyn) && !ack) on_syn(s);
      else count_unexpected();
      return;
    case State::kSynSent:
      if (s.has(kTcpSyn) && ack) on_syn_ack(s, now);
      else count_unexpected();
      return;
    case State::kSynReceived:
      if (s.has(kTcpSyn) && !ack && s.sequence == receiver_.initial_sequence()) {
        ++context().counters.duplicates_received;  // our SYN-ACK is late or lost; its timer tells
      } else if (ack && !s.has(kTcpSyn)) {
        on_handshake_ack(s, now);
      } else {
        count_unexpected();
      }
      return;
    default:
      assert(false);
  }
}

void TcpConnection::learn_peer(const TcpSegment& s, bool ecn) noexcept {
  peer_scales_ = s.window_scale >= 0;
  peer_sack_ = config().sack && s.sack_permitted;
  ecn_ = ecn;
  if (!peer_scales_) receiver_.disable_window_scale();
  receiver_.start(s.sequence, ecn, peer_sack_);
  const bool timestamps = config().timestamps && s.has_timestamps;
  if (timestamps) receiver_.enable_timestamps(s.ts_value);
  // RFC 6691: the option does not count TCP options, the segments we send do.
  const std::uint32_t options =
      option_bytes_ + (timestamps ? std::uint32_t{TimestampClock::kOptionBytes} : 0);
  const std::uint32_t payload = s.mss > options ? s.mss - options : s.mss;
  sender_.start({.mss_bytes = payload,
                 .window_bytes = s.window,
                 .window_scale = static_cast<std::uint8_t>(std::clamp<int>(s.window_scale, 0, 14)),
                 .ecn = ecn,
                 .timestamps = timestamps,
                 .sack = peer_sack_});
}

void TcpConnection::on_syn(const TcpSegment& s) noexcept {
  learn_peer(s, config().ecn && s.has(kTcpEce) && s.has(kTcpCwr));
  state_ = State::kSynReceived;
  syn_due_ = true;
}

void TcpConnection::on_syn_ack(const TcpSegment& s, Time now) noexcept {
  if (s.acknowledgment != sender_.stream().initial_sequence() + 1) {
    count_unexpected();
    return;
  }
  learn_peer(s, config().ecn && s.has(kTcpEce) && !s.has(kTcpCwr));
  receiver_.acknowledge_now();
  become_established(now);
}

void TcpConnection::on_handshake_ack(const TcpSegment& s, Time now) noexcept {
  if (s.acknowledgment != sender_.stream().initial_sequence() + 1 || !receiver_.acceptable(s)) {
    count_unexpected();
    return;
  }
  become_established(now);
  if (state_ == State::kEstablished) on_established_segment(s, now);
}

void TcpConnection::become_established(Time now) noexcept {
  if (syn_timeouts_ != 0) sender_.on_handshake_loss();
  else if (!syn_due_)
    sender_.timer().on_sample(now - (sender_.timer().deadline() - handshake_rto()), config());
  state_ = State::kEstablished;
  syn_due_ = false;
  sender_.timer().set(kNever);
  listener_.on_established(*this, now);
}

Duration TcpConnection::handshake_rto() const noexcept {
  Duration rto = config().initial_rto;
  for (std::uint8_t i = 0; i < syn_timeouts_; ++i) rto = std::min(2 * rto, config().max_rto);
  return rto;
}

void TcpConnection::on_handshake_timer(Time now) noexcept {
  assert(state_ == State::kSynSent || state_ == State::kSynReceived);
  if (++syn_timeouts_ > Persistence::kMaxTimeouts) {
    finish(State::kReset, now);
    return;
  }
  ++context().counters.rtos_handshake;
  syn_due_ = true;
  sender_.timer().set(kNever);  // runs again from when the segment leaves
}

}  // namespace outrider::tg
