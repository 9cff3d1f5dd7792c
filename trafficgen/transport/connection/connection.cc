#include "trafficgen/transport/connection/connection.h"

#include <cassert>

#include "trafficgen/transport/connection/refusal.h"

namespace outrider::tg {

TcpConnection::TcpConnection(const TcpConfig& config, const Setup& setup, TransportMemory& memory,
                             ConnectionListener& listener)
    : sender_({.config = config, .memory = memory}, setup.initial_sequence),
      handshake_(setup.role, setup.option_bytes),
      receiver_(context(), row_of(config.control.controller).accurate_ecn_echo),
      listener_(&listener),
      flow_(setup.flow) {
  assert(config.mss_bytes + setup.option_bytes <= UINT16_MAX);
}

void TcpConnection::open(Time) noexcept {
  assert(state_ == State::kOpening);
  handshake_.open();
}

void TcpConnection::send(std::uint64_t bytes, Time) noexcept {
  sender_.state().stream.write(bytes);
}

void TcpConnection::close(Time) noexcept { sender_.state().stream.finish(); }

void TcpConnection::set_identity(std::optional<BurstIdentity> identity) noexcept {
  has_identity_ = identity.has_value();
  if (identity) identity_ = *identity;
}

void TcpConnection::watch_offset(std::uint64_t offset) noexcept {
  sender_.state().stream.watch(offset);
}

std::optional<Time> TcpConnection::watched_sent_at() const noexcept {
  return sender_.state().stream.watched_sent_at();
}

bool TcpConnection::take_segment(TcpSegment& s, Time now) noexcept {
  if (handshake_.segment_due() || state_ != State::kEstablished) [[unlikely]]
    return take_rare(s, now);
  const bool data = !receiver_.ack_due_alone() && sender_.can_send(now);
  if (!data) {
    if (!receiver_.ack_due() && !sender_.probe_due()) return false;
    s.sequence = sender_.state().stream.next_sequence();
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
    if (has_identity_ && s.payload_bytes != 0) {
      s.has_identity = true;
      s.identity = identity_;
    }
  }
  receiver_.stamp(s, now);
  ++context().counters.segments_sent;
  return true;
}

/// Writes a segment of the handshake, or the acknowledgment of a FIN after the end.
bool TcpConnection::take_rare(TcpSegment& s, Time now) noexcept {
  if (!has_segment(now)) return false;
  ++context().counters.segments_sent;
  if (handshake_.segment_due()) {
    handshake_.fill(s, sender_, receiver_, now);
    return true;
  }
  s.sequence = sender_.state().stream.next_sequence();
  receiver_.fill_pure_ack(s, now);
  receiver_.stamp(s, now);
  return true;
}

void TcpConnection::on_segment(const TcpSegment& s, Time now) noexcept {
  ++context().counters.segments_received;
  switch (state_) {
    [[likely]] case State::kEstablished : case State::kClosed : on_established_segment(s, now);
    return;
    case State::kReset:
      ++context().memory.events.out_of_state;
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
      ++context().memory.events.out_of_state;
      return;
    case Handshake::Outcome::kRefused:
      return finish(State::kReset, now);
    case Handshake::Outcome::kReset:
      return refuse(s, now);
    case Handshake::Outcome::kEstablished:
      return become_established(now);
    case Handshake::Outcome::kEstablishedByData:
      become_established(now);
      if (established()) on_established_segment(s, now);
      return;
  }
}

void TcpConnection::become_established(Time now) noexcept {
  state_ = State::kEstablished;
  listener_->on_established(*this, now);
}

/// Checks the segment in the order of RFC 9293, 3.10.7.4: sequence number, RST, SYN, ACK, data,
/// FIN.
void TcpConnection::on_established_segment(const TcpSegment& s, Time now) noexcept {
  const bool acceptable = receiver_.window().acceptable(s);
  if (!receiver_.timely(s)) [[unlikely]]
    return;
  if ((s.flags & (kTcpRst | kTcpSyn | kTcpAck)) != kTcpAck || !acceptable) [[unlikely]]
    return refuse(s, now);
  const std::uint64_t acked_before = sender_.state().stream.acked_bytes();
  if (!sender_.on_ack(s, now, receiver_.window().is_current(s))) [[unlikely]]
    return challenge(now);  // RFC 5961, 5.2
  receiver_.note_timestamp(s);
  if (tells_acknowledged_ && sender_.state().stream.acked_bytes() != acked_before)
    listener_->on_acknowledged(*this, sender_.state().stream.acked_bytes() - acked_before, now);
  if (receiver_.take_next(s, now)) [[likely]]
    return listener_->on_delivered(*this, now);
  const std::uint64_t before = receiver_.delivered_bytes();
  receiver_.on_segment(s, now);
  if (receiver_.delivered_bytes() != before) listener_->on_delivered(*this, now);
  if (state_ == State::kEstablished && receiver_.fin_received() &&
      sender_.state().stream.closing() && sender_.state().stream.fin_acked()) {
    finish(State::kClosed, now);
  }
}

void TcpConnection::refuse(const TcpSegment& s, Time now) noexcept {
  const Refusal refusal = judge_refused(s, receiver_.window(), context().memory.events);
  // A closed window accepts the acknowledgment of a probe, but not its data (3.10.7.4).
  const bool plain = (s.flags & (kTcpRst | kTcpSyn | kTcpAck)) == kTcpAck;
  if (plain && s.sequence == receiver_.window().next_sequence()) (void)sender_.on_ack(s, now, true);
  switch (refusal) {
    case Refusal::kIgnore:
      return;
    case Refusal::kAcknowledge:
      return receiver_.acknowledge_now();
    case Refusal::kChallenge:
      if (state_ != State::kOpening) challenge(now);
      return;
    case Refusal::kReset:
      if (state_ != State::kClosed) finish(State::kReset, now);
      return;
  }
}

void TcpConnection::challenge(Time now) noexcept {
  TcpEvents& events = context().memory.events;
  if (context().memory.challenge_acks.take(now)) {
    ++events.challenge_acks;
    receiver_.acknowledge_now();
  } else {
    ++events.challenge_acks_withheld;
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
  if (state_ != State::kClosed || !closes_first_ || time_wait_duration() == Duration::zero())
    return std::nullopt;
  return TimeWait{.sequence = sender_.state().stream.next_sequence(),
                  .expected = receiver_.window().next_sequence(),
                  .ts_recent = receiver_.ts_recent().value_or(0),
                  .window = receiver_.window().field(),
                  .timestamps = receiver_.ts_recent().has_value()};
}

void TcpConnection::finish(State state, Time now) noexcept {
  assert(state == State::kClosed || state == State::kReset);
  state_ = state;
  handshake_.stop();
  sender_.state().timer.set(kNever);
  listener_->on_closed(*this, now);
}

}  // namespace outrider::tg
