// SYN, SYN-ACK, ACK: RFC 9293, section 3.5, with the options of RFC 2018 and
// RFC 7323 and the ECN negotiation of RFC 3168, section 6.1.1.
#include <algorithm>
#include <cassert>

#include "trafficgen/transport/connection.h"

namespace outrider {

void TcpConnection::handshake_segment(TcpSegment& s, Time now) noexcept {
  const bool client = state_ == State::kSynSent;
  assert(client || state_ == State::kSynReceived);
  s.sequence = setup_.initial_sequence;
  s.flags = kTcpSyn;
  s.window = receiver_.syn_window();
  s.mss = static_cast<std::uint16_t>(config_.control.mss_bytes + setup_.option_bytes);
  if (client || peer_scales_) s.window_scale = receiver_.window_scale();
  s.sack_permitted = client || peer_sack_;
  if (client) {
    if (config_.ecn) s.flags |= kTcpEce | kTcpCwr;
  } else {
    s.acknowledgment = peer_initial_sequence_ + 1;
    s.flags |= kTcpAck;
    if (ecn_) s.flags |= kTcpEce;
  }
  if (syn_deadline_ == kNever) syn_deadline_ = now + syn_rto_;
  syn_sent_at_ = now;
  syn_due_ = false;
}

void TcpConnection::on_handshake_segment(const TcpSegment& s, Time now) noexcept {
  const bool ack = s.has(kTcpAck);
  if (s.has(kTcpRst)) {  // 3.10.7.3 and 3.10.7.4: only from somebody who knows our SYN
    const bool valid = state_ == State::kSynSent
                           ? ack && s.acknowledgment == setup_.initial_sequence + 1
                           : state_ == State::kSynReceived && receiver_.acceptable(s);
    if (valid) finish(State::kReset, now);
    else count_invalid();
    return;
  }
  switch (state_) {
    case State::kIdle:
      if (setup_.role == Role::kServer && s.has(kTcpSyn) && !ack) on_syn(s);
      else count_invalid();
      return;
    case State::kSynSent:
      if (s.has(kTcpSyn) && ack) on_syn_ack(s, now);
      else count_invalid();
      return;
    case State::kSynReceived:
      if (s.has(kTcpSyn) && !ack && s.sequence == peer_initial_sequence_) {
        ++counters_.duplicates_received;  // our SYN-ACK is late or lost; its timer tells
      } else if (ack && !s.has(kTcpSyn)) {
        on_handshake_ack(s, now);
      } else {
        count_invalid();
      }
      return;
    default:
      assert(false);
  }
}

void TcpConnection::learn_peer(const TcpSegment& s, bool ecn) noexcept {
  peer_initial_sequence_ = s.sequence;
  peer_scales_ = s.window_scale >= 0;
  peer_sack_ = s.sack_permitted;
  ecn_ = ecn;
  if (!peer_scales_) receiver_.disable_window_scale();
  receiver_.start(s.sequence, ecn, peer_sack_);
  // RFC 6691: the option does not count TCP options, the segments we send do.
  const std::uint32_t payload = s.mss > setup_.option_bytes ? s.mss - setup_.option_bytes : s.mss;
  sender_.start({.mss_bytes = payload,
                 .window_bytes = s.window,
                 .window_scale = static_cast<std::uint8_t>(std::clamp<int>(s.window_scale, 0, 14)),
                 .ecn = ecn});
}

void TcpConnection::on_syn(const TcpSegment& s) noexcept {
  learn_peer(s, config_.ecn && s.has(kTcpEce) && s.has(kTcpCwr));
  state_ = State::kSynReceived;
  syn_due_ = true;
}

void TcpConnection::on_syn_ack(const TcpSegment& s, Time now) noexcept {
  if (s.acknowledgment != setup_.initial_sequence + 1) {
    count_invalid();
    return;
  }
  learn_peer(s, config_.ecn && s.has(kTcpEce) && !s.has(kTcpCwr));
  receiver_.acknowledge_now();
  become_established(now);
}

void TcpConnection::on_handshake_ack(const TcpSegment& s, Time now) noexcept {
  if (s.acknowledgment != setup_.initial_sequence + 1 || !receiver_.acceptable(s)) {
    count_invalid();
    return;
  }
  become_established(now);
  if (state_ == State::kEstablished) on_established_segment(s, now);
}

void TcpConnection::become_established(Time now) noexcept {
  if (syn_resent_) sender_.on_handshake_loss();
  else sender_.on_handshake_rtt(now - syn_sent_at_);
  state_ = State::kEstablished;
  syn_due_ = false;
  syn_deadline_ = kNever;
  listener_.on_established(*this, now);
}

void TcpConnection::on_handshake_timer(Time now) noexcept {
  assert(state_ == State::kSynSent || state_ == State::kSynReceived);
  if (++syn_timeouts_ > TcpSender::kMaxTimeouts) {
    finish(State::kReset, now);
    return;
  }
  ++counters_.rtos_handshake;
  syn_rto_ = std::min(2 * syn_rto_, config_.max_rto);  // RFC 6298, 5.5
  syn_resent_ = true;
  syn_due_ = true;
  syn_deadline_ = kNever;  // runs again from when the segment leaves
}

}  // namespace outrider
