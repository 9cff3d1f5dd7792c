#include "trafficgen/transport/connection/handshake.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/transport/base/timestamps.h"

namespace outrider::tg {

void Handshake::open() noexcept {
  assert(role_ == Role::kClient && phase_ == Phase::kIdle);
  phase_ = Phase::kSynSent;
  due_ = true;
}

void Handshake::fill(TcpSegment& s, TcpSender& sender, const TcpReceiver& receiver,
                     Time now) noexcept {
  const bool client = phase_ == Phase::kSynSent;
  assert(client || phase_ == Phase::kSynReceived);
  const TcpConfig& config = sender.state().context.config;
  s.sequence = sender.state().stream.numbers().initial();
  s.flags = kTcpSyn;
  s.window = receiver.window().syn_field();
  s.mss = static_cast<std::uint16_t>(config.mss_bytes + option_bytes_);
  if (client || peer_scales_) s.window_scale = receiver.window().scale();
  s.sack_permitted = client ? config.sack : peer_sack_;
  if (client ? config.timestamps : receiver.ts_recent().has_value()) {
    receiver.stamp(s, now);  // with the echo, once the peer has sent a timestamp
    s.has_timestamps = true;
    s.ts_value = TimestampClock::at(now);
  }
  if (client) {
    if (config.ecn) s.flags |= kTcpEce | kTcpCwr;
  } else {
    s.acknowledgment = receiver.window().next_sequence();
    s.flags |= kTcpAck;
    if (ecn_) s.flags |= kTcpEce;
  }
  assert(sender.state().timer.deadline() == kNever);
  sender.state().timer.set(now + rto(config));
  due_ = false;
}

Handshake::Outcome Handshake::on_segment(const TcpSegment& s, TcpSender& sender,
                                         TcpReceiver& receiver, Time now) noexcept {
  const bool ack = s.has(kTcpAck);
  const bool syn = s.has(kTcpSyn);
  if (s.has(kTcpRst)) {  // 3.10.7.3 and 3.10.7.4: valid only from a peer that knows our SYN
    if (phase_ == Phase::kSynReceived) return Outcome::kReset;
    const bool valid =
        phase_ == Phase::kSynSent && ack && acknowledges_syn(s, sender.state().stream);
    return valid ? Outcome::kRefused : Outcome::kUnexpected;
  }
  switch (phase_) {
    case Phase::kIdle:
      if (role_ != Role::kServer || !syn || ack) return Outcome::kUnexpected;
      learn_peer(s, sender.state().context.config.ecn && s.has(kTcpEce) && s.has(kTcpCwr), sender,
                 receiver);
      phase_ = Phase::kSynReceived;
      due_ = true;
      return Outcome::kOngoing;
    case Phase::kSynSent:
      return syn && ack ? on_syn_ack(s, sender, receiver, now) : Outcome::kUnexpected;
    case Phase::kSynReceived:
      return in_syn_received(s, sender, receiver, now);
    case Phase::kDone:
      break;
  }
  return Outcome::kUnexpected;
}

void Handshake::learn_peer(const TcpSegment& s, bool ecn, TcpSender& sender,
                           TcpReceiver& receiver) noexcept {
  const TcpConfig& config = sender.state().context.config;
  peer_scales_ = s.window_scale >= 0;
  peer_sack_ = config.sack && s.sack_permitted;
  ecn_ = ecn;
  const bool timestamps = config.timestamps && s.has_timestamps;
  receiver.start({.initial_sequence = s.sequence,
                  .ecn = ecn,
                  .sack = peer_sack_,
                  .window_scale = peer_scales_,
                  .timestamp = timestamps ? std::optional(s.ts_value) : std::nullopt});
  // A smaller size is not obeyed: it would have a peer's every byte sent in a packet of its own.
  const std::uint32_t mss = s.mss == 0 ? 0 : std::max<std::uint32_t>(s.mss, kLeastPeerMss_bytes);
  // The MSS option does not count TCP options, but the segments that we send do (RFC 6691).
  const std::uint32_t options =
      option_bytes_ + (timestamps ? std::uint32_t{TimestampClock::kOptionBytes} : 0);
  const std::uint32_t payload = mss > options ? mss - options : mss;
  sender.start({.mss_bytes = payload,
                .window_bytes = s.window,
                .window_scale = static_cast<std::uint8_t>(std::clamp<int>(s.window_scale, 0, 14)),
                .ecn = ecn,
                .timestamps = timestamps,
                .sack = peer_sack_});
}

Handshake::Outcome Handshake::on_syn_ack(const TcpSegment& s, TcpSender& sender,
                                         TcpReceiver& receiver, Time now) noexcept {
  if (!acknowledges_syn(s, sender.state().stream)) return Outcome::kUnexpected;
  learn_peer(s, sender.state().context.config.ecn && s.has(kTcpEce) && !s.has(kTcpCwr), sender,
             receiver);
  receiver.acknowledge_now();
  establish(sender, now);
  return Outcome::kEstablished;
}

Handshake::Outcome Handshake::in_syn_received(const TcpSegment& s, TcpSender& sender,
                                              const TcpReceiver& receiver, Time now) noexcept {
  const bool ack = s.has(kTcpAck);
  const bool syn = s.has(kTcpSyn);
  if (syn && !ack && s.sequence == receiver.window().numbers().initial()) {
    // Our SYN-ACK is late or lost; the timer will resend it.
    ++sender.state().context.counters.duplicates_received;
    return Outcome::kOngoing;
  }
  const bool valid =
      ack && !syn && acknowledges_syn(s, sender.state().stream) && receiver.window().acceptable(s);
  if (!valid) return Outcome::kUnexpected;
  establish(sender, now);
  return Outcome::kEstablishedByData;
}

void Handshake::establish(TcpSender& sender, Time now) noexcept {
  if (timeouts_ != 0) sender.on_handshake_loss();
  else if (!due_) {
    const TcpConfig& config = sender.state().context.config;
    const Time sent_at = sender.state().timer.deadline() - rto(config);
    sender.state().timer.on_sample(now - sent_at, {}, config);
  }
  end();
  sender.state().timer.set(kNever);
}

Duration Handshake::rto(const TcpConfig& config) const noexcept {
  Duration rto = config.initial_rto;
  for (std::uint8_t i = 0; i < timeouts_; ++i) rto = std::min(2 * rto, config.max_rto);
  return rto;
}

bool Handshake::on_timer(TcpSender& sender) noexcept {
  assert(phase_ == Phase::kSynSent || phase_ == Phase::kSynReceived);
  if (++timeouts_ > Persistence::kMaxTimeouts) return false;
  ++sender.state().context.counters.rtos_handshake;
  due_ = true;
  sender.state().timer.set(kNever);  // restarts when the segment leaves
  return true;
}

}  // namespace outrider::tg
