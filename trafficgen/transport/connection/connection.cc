#include "trafficgen/transport/connection/connection.h"

#include <cassert>

#include "trafficgen/transport/connection/refusal.h"

namespace outrider::tg {

namespace {

/// Acknowledges, at a limited rate, what an attacker may have sent (RFC 5961).
void challenge(TransportMemory& memory, TcpReceiver& receiver, Time now) noexcept {
  if (memory.challenge_acks.take(now)) {
    ++memory.events.challenge_acks;
    receiver.acknowledge_now();
  } else {
    ++memory.events.challenge_acks_withheld;
  }
}

}  // namespace

TcpConnection::TcpConnection(const TcpConfig& config, const Setup& setup, TransportMemory& memory,
                             ConnectionListener& listener)
    : sender_({.config = config, .memory = memory}, setup.initial_sequence),
      handshake_(setup.role, setup.option_bytes),
      receiver_(sender_.state().context, row_of(config.control.controller).accurate_ecn_echo),
      application_(listener),
      flow_(setup.flow) {
  assert(config.mss_bytes + setup.option_bytes <= UINT16_MAX);
}

void TcpConnection::open(Time) noexcept {
  assert(state_ == State::kOpening);
  handshake_.open();
}

bool TcpConnection::take_segment(TcpSegment& s, Time now) noexcept {
  if (handshake_.segment_due() || state_ != State::kEstablished) [[unlikely]]
    return take_rare(s, now);
  const bool data = !receiver_.ack_due_alone() && sender_.can_send(now);
  if (!data) {
    if (!receiver_.ack_due() && !sender_.probe_due()) return false;
    s.sequence = stream().next_sequence();
    if (sender_.probe_due()) [[unlikely]] {
      --s.sequence;
      sender_.take_probe();
    }
    receiver_.fill_pure_ack(s, now);
  } else {
    sender_.fill(s, now);
    if (s.has(kTcpFin) && !receiver_.fin_received()) [[unlikely]]
      closes_first_ = true;
    receiver_.fill_piggyback(s, now);
    application_.identify(s);
  }
  receiver_.stamp(s, now);
  ++sender_.state().context.counters.segments_sent;
  return true;
}

/// Writes a segment of the handshake, or the acknowledgment of a FIN after the end.
bool TcpConnection::take_rare(TcpSegment& s, Time now) noexcept {
  if (!has_segment(now)) return false;
  ++sender_.state().context.counters.segments_sent;
  if (handshake_.segment_due()) {
    handshake_.fill(s, sender_, receiver_, now);
    return true;
  }
  s.sequence = stream().next_sequence();
  receiver_.fill_pure_ack(s, now);
  receiver_.stamp(s, now);
  return true;
}

void TcpConnection::on_segment(const TcpSegment& s, Time now) noexcept {
  ++sender_.state().context.counters.segments_received;
  switch (state_) {
    [[likely]] case State::kEstablished : case State::kClosed : on_established_segment(s, now);
    return;
    case State::kReset:
      ++sender_.state().context.memory.events.out_of_state;
      return;
    case State::kOpening:
      on_handshake_segment(s, now);
      return;
  }
}

void TcpConnection::on_handshake_segment(const TcpSegment& s, Time now) noexcept {
  switch (handshake_.on_segment(s, sender_, receiver_, now)) {
    case Handshake::Outcome::kOngoing:
      return;
    case Handshake::Outcome::kUnexpected:
      ++sender_.state().context.memory.events.out_of_state;
      return;
    case Handshake::Outcome::kRefused:
      return finish(State::kReset, now);
    case Handshake::Outcome::kReset:
      return refuse(s, now);
    case Handshake::Outcome::kEstablished:
      state_ = State::kEstablished;
      return application_.listener().on_established(*this, now);
    case Handshake::Outcome::kEstablishedByData:
      state_ = State::kEstablished;
      application_.listener().on_established(*this, now);
      if (state_ == State::kEstablished) on_established_segment(s, now);
      return;
  }
}

/// Checks the segment in the order of RFC 9293, 3.10.7.4: sequence number, RST, SYN, ACK, data,
/// FIN.
void TcpConnection::on_established_segment(const TcpSegment& s, Time now) noexcept {
  const bool acceptable = receiver_.window().acceptable(s);
  if (!receiver_.timely(s)) [[unlikely]]
    return;
  if ((s.flags & (kTcpRst | kTcpSyn | kTcpAck)) != kTcpAck || !acceptable) [[unlikely]]
    return refuse(s, now);
  const std::uint64_t acked_before = stream().acked_bytes();
  if (!sender_.on_ack(s, now, receiver_.window().is_current(s))) [[unlikely]]
    return challenge(sender_.state().context.memory, receiver_, now);  // RFC 5961, 5.2
  receiver_.note_timestamp(s);
  if (application_.tells_acknowledged() && stream().acked_bytes() != acked_before)
    application_.listener().on_acknowledged(*this, stream().acked_bytes() - acked_before, now);
  if (receiver_.take_next(s, now)) [[likely]]
    return application_.listener().on_delivered(*this, now);
  const std::uint64_t before = receiver_.delivered_bytes();
  receiver_.on_segment(s, now);
  if (receiver_.delivered_bytes() != before) application_.listener().on_delivered(*this, now);
  if (state_ == State::kEstablished && receiver_.fin_received() && stream().fin_acked()) {
    finish(State::kClosed, now);
  }
}

void TcpConnection::refuse(const TcpSegment& s, Time now) noexcept {
  const Refusal refusal =
      judge_refused(s, receiver_.window(), sender_.state().context.memory.events);
  // A closed window accepts the acknowledgment of a probe, but not its data (3.10.7.4).
  const bool plain = (s.flags & (kTcpRst | kTcpSyn | kTcpAck)) == kTcpAck;
  if (plain && s.sequence == receiver_.window().next_sequence()) (void)sender_.on_ack(s, now, true);
  switch (refusal) {
    case Refusal::kIgnore:
      return;
    case Refusal::kAcknowledge:
      return receiver_.acknowledge_now();
    case Refusal::kChallenge:
      if (state_ != State::kOpening) challenge(sender_.state().context.memory, receiver_, now);
      return;
    case Refusal::kReset:
      if (state_ != State::kClosed) finish(State::kReset, now);
      return;
  }
}

void TcpConnection::on_timer(Time now) noexcept {
  if (state_ == State::kEstablished) {
    receiver_.on_timer(now);
    if (!sender_.on_timer(now)) finish(State::kReset, now);
  } else if (now >= sender_.state().timer.deadline() && !handshake_.on_timer(sender_)) {
    finish(State::kReset, now);
  }
}

/// TIME-WAIT follows FIN-WAIT-2 or CLOSING, not LAST-ACK (RFC 9293, 3.6).
std::optional<TimeWait> TcpConnection::time_wait() const noexcept {
  if (state_ != State::kClosed || !closes_first_ ||
      sender_.state().context.config.time_wait == Duration::zero())
    return std::nullopt;
  return TimeWait{.sequence = stream().next_sequence(),
                  .expected = receiver_.window().next_sequence(),
                  .ts_recent = receiver_.ts_recent().value_or(0),
                  .window = receiver_.window().field(),
                  .timestamps = receiver_.ts_recent().has_value()};
}

void TcpConnection::finish(State state, Time now) noexcept {
  assert(state == State::kClosed || state == State::kReset);
  state_ = state;
  handshake_.end();
  sender_.state().timer.set(kNever);
  application_.listener().on_closed(*this, now);
}

}  // namespace outrider::tg
