#include "trafficgen/transport/connection/connection.h"

#include <cassert>

namespace outrider::tg {

TcpConnection::TcpConnection(const TcpConfig& config, const Setup& setup, TransportMemory& memory,
                             ConnectionListener& listener)
    : sender_({.config = config, .memory = memory}, setup.initial_sequence),
      role_(setup.role),
      option_bytes_(setup.option_bytes),
      receiver_(context(), row_of(config.control.controller).accurate_ecn_echo),
      listener_(listener),
      flow_(setup.flow) {
  assert(config.control.mss_bytes + setup.option_bytes <= UINT16_MAX);
}

TcpConnection::~TcpConnection() = default;

void TcpConnection::open(Time) noexcept {
  assert(role_ == Role::kClient && state_ == State::kIdle);
  state_ = State::kSynSent;
  syn_due_ = true;
}

void TcpConnection::send(std::uint64_t bytes, Time) noexcept { sender_.stream().write(bytes); }

void TcpConnection::close(Time) noexcept { sender_.stream().finish(); }

void TcpConnection::set_identity(std::optional<BurstIdentity> identity) noexcept {
  has_identity_ = identity.has_value();
  if (identity) identity_ = *identity;
}

void TcpConnection::watch_offset(std::uint64_t offset) noexcept { sender_.stream().watch(offset); }

std::optional<Time> TcpConnection::watched_sent_at() const noexcept {
  return sender_.stream().watched_sent_at();
}

TcpSegment TcpConnection::next_segment(Time now) noexcept {
  assert(has_segment(now));
  TcpSegment s;
  ++context().counters.segments_sent;
  if (syn_due_) [[unlikely]] {
    handshake_segment(s, now);
    return s;
  }
  const bool data =
      state_ == State::kEstablished && !receiver_.ack_due_alone() && sender_.can_send(now);
  if (!data) {
    s.sequence = sender_.stream().next_sequence();
    if (sender_.probe_due() && state_ == State::kEstablished) [[unlikely]] {
      --s.sequence;
      sender_.take_probe();
    }
    receiver_.fill_pure_ack(s, now);
    receiver_.stamp(s, now);
    return s;
  }
  sender_.fill(s, now);
  if (s.has(kTcpFin) && !receiver_.fin_received()) [[unlikely]]
    closes_first_ = true;
  receiver_.fill_piggyback(s, now);
  receiver_.stamp(s, now);
  if (has_identity_ && s.payload_bytes != 0) {
    s.has_identity = true;
    s.identity = identity_;
  }
  return s;
}

void TcpConnection::on_segment(const TcpSegment& s, Time now) noexcept {
  ++context().counters.segments_received;
  switch (state_) {
    [[likely]] case State::kEstablished : case State::kClosed : on_established_segment(s, now);
    return;
    case State::kReset:
      ++context().memory.events.out_of_state;
      return;
    default:
      on_handshake_segment(s, now);
      return;
  }
}

/// RFC 9293, 3.10.7.4, in its order: sequence number, RST, SYN, ACK, data, FIN.
void TcpConnection::on_established_segment(const TcpSegment& s, Time now) noexcept {
  const bool acceptable = receiver_.acceptable(s);
  if (!receiver_.timely(s)) [[unlikely]]
    return;
  if ((s.flags & (kTcpRst | kTcpSyn)) != 0) [[unlikely]]
    return s.has(kTcpRst) ? on_reset(s, now) : on_syn_in_connection(s, now);
  if (!acceptable || !s.has(kTcpAck)) [[unlikely]]
    return refuse(s, now);
  receiver_.note_timestamp(s);
  const std::uint64_t acked_before = sender_.stream().acked_bytes();
  if (!sender_.on_ack(s, now, receiver_.is_current(s))) [[unlikely]]
    return challenge(now);  // RFC 5961, 5.2
  if (tells_acknowledged_ && sender_.stream().acked_bytes() != acked_before)
    listener_.on_acknowledged(*this, sender_.stream().acked_bytes() - acked_before, now);
  const std::uint64_t before = receiver_.delivered_bytes();
  receiver_.on_segment(s, now);
  if (receiver_.delivered_bytes() != before) listener_.on_delivered(*this, now);
  if (state_ == State::kEstablished && receiver_.fin_received() && sender_.stream().closing() &&
      sender_.stream().fin_acked()) {
    finish(State::kClosed, now);
  }
}

void TcpConnection::on_timer(Time now) noexcept {
  if (state_ == State::kEstablished) {
    receiver_.on_timer(now);
    if (!sender_.on_timer(now)) finish(State::kReset, now);
  } else if (now >= sender_.timer().deadline()) {
    on_handshake_timer(now);
  }
}

/// RFC 9293, 3.6: from FIN-WAIT-2 or CLOSING, not from LAST-ACK.
std::optional<TimeWait> TcpConnection::time_wait() const noexcept {
  if (state_ != State::kClosed || !closes_first_ || config().time_wait == Duration::zero())
    return std::nullopt;
  return TimeWait{.sequence = sender_.stream().next_sequence(),
                  .expected = receiver_.next_sequence(),
                  .ts_recent = receiver_.ts_recent(),
                  .window = receiver_.window(),
                  .timestamps = receiver_.timestamps()};
}

void TcpConnection::finish(State state, Time now) noexcept {
  assert(state == State::kClosed || state == State::kReset);
  state_ = state;
  syn_due_ = false;
  sender_.timer().set(kNever);
  listener_.on_closed(*this, now);
}

}  // namespace outrider::tg
