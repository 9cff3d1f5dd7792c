#include "trafficgen/transport/sender/sender.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace outrider::tg {
TcpSender::TcpSender(const TcpContext& context, std::uint32_t initial_sequence)
    : context_(context),
      space_(initial_sequence),
      mss_(static_cast<std::uint16_t>(context.config.control.mss_bytes)),
      rto_(context.config.initial_rto, rto_bounds()),
      control_(context.config.control) {
  assert(mss_ > 0 && mss_ == context.config.control.mss_bytes);
  assert(context.config.receive_buffer_bytes > 0 &&
         context.config.receive_buffer_bytes <= kMaxWindowBytes);
  cwnd_ = control_->cwnd_bytes();
  paced_ = context.config.pacing || control_->fixed_rate().bits_per_second != 0;
}

std::uint32_t TcpSender::segments_limit(const TcpConfig& config) noexcept {
  if (config.control.mss_bytes == 0) return 64;
  return std::bit_ceil(config.receive_buffer_bytes / config.control.mss_bytes + 64);
}

void TcpSender::start(const Peer& peer) noexcept {
  assert(peer.window_scale <= 14);
  timestamps_ = peer.timestamps;
  // Full segments with the option are as long as those without (RFC 6691).
  if (timestamps_ && mss_ > TimestampClock::kOptionBytes) mss_ -= TimestampClock::kOptionBytes;
  if (peer.mss_bytes != 0 && peer.mss_bytes < mss_)
    mss_ = static_cast<std::uint16_t>(peer.mss_bytes);
  peer_window_scale_ = peer.window_scale & 0xF;
  peer_edge_ = peer.window_bytes;
  ecn_ = peer.ecn;
  sack_ = peer.sack;
  by_time_ = peer.sack && context_.config.loss_detection == LossDetection::kRackTlp;
}

/// Payload that the next new segment would have: a full one, the rest of what is
/// written, or what the peer's window leaves if nothing else is in flight
/// (sender's silly window avoidance, RFC 9293, 3.8.6.2.1).
std::uint32_t TcpSender::new_payload() const noexcept {
  if (nxt_ >= written_) return 0;
  const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(mss_, written_ - nxt_));
  const std::uint64_t room = peer_edge_ > nxt_ ? peer_edge_ - nxt_ : 0;
  if (room >= wanted) [[likely]]
    return wanted;
  return scoreboard_.empty() ? static_cast<std::uint32_t>(room) : 0;
}

bool TcpSender::has_room(Time now) noexcept {
  if (scoreboard_.has_room()) [[likely]]
    return true;
  switch (scoreboard_.room(context_.memory, segments_limit(context_.config))) {
    case Scoreboard::Room::kYes:
      return true;
    case Scoreboard::Room::kNoSegments:
      ++context_.memory.counters.segments_exhausted;
      return false;
    case Scoreboard::Room::kNoFlight:
      if (rto_deadline_ == kNever) {
        ++context_.memory.counters.flights_exhausted;
        rto_deadline_ = now + kMemoryRetry;
      }
      return false;
    case Scoreboard::Room::kLimit:
      return false;
  }
  return false;
}

bool TcpSender::can_send_new(Time now) noexcept {
  const std::uint32_t payload = new_payload();
  if (payload == 0 && !(closing_ && nxt_ == written_)) {
    if (rto_deadline_ == kNever && window_closed()) [[unlikely]]
      rto_deadline_ = now + rto_.rto();  // RFC 9293, 3.8.6.1: the first probe after an RTO
    return false;
  }
  return scoreboard_.pipe_bytes() + payload <= cwnd_ && has_room(now);
}

bool TcpSender::can_send(Time now) noexcept {
  if (tail_probe_) [[unlikely]]
    return true;
  const bool may = scoreboard_.lost_pending() == 0
                       ? can_send_new(now)
                       : resend_first_ || scoreboard_.pipe_bytes() + mss_ <= cwnd_;
  return paced_ ? pace_allows(may, now) : may;
}

void TcpSender::fill(TcpSegment& s, Time now) noexcept {
  assert(can_send(now));
  if (scoreboard_.empty()) {  // memory is there again, or the window is open
    rto_deadline_ = kNever;
    probes_ = 0;
    probe_due_ = false;
  }
  if (tail_probe_) [[unlikely]]
    fill_tail_probe(s, now);
  else if (scoreboard_.lost_pending() == 0) [[likely]] fill_new(s, now);
  else fill_resent(s, now);
  last_sent_ = now;
  if (by_time_) after_departure(now);
  else if (rto_deadline_ == kNever) rto_deadline_ = now + rto_.rto();  // RFC 6298, 5.1
  if (paced_) [[unlikely]]
    pace(s.payload_bytes, now);
}

void TcpSender::note_window_use() noexcept {
  if (scoreboard_.pipe_bytes() + mss_ > cwnd_) scoreboard_.flight()->window_full_until = nxt_;
}

void TcpSender::fill_resent(TcpSegment& s, Time now) noexcept {
  const SentSegment& lost = scoreboard_.resend(now);
  resend_segment(lost, s, now);
  resend_first_ = false;
  note_window_use();
}

void TcpSender::resend_segment(const SentSegment& sent, TcpSegment& s, Time now) noexcept {
  const std::uint64_t end = sent.offset + sent.length;
  const bool fin = end > written_;
  s.sequence = space_.wire(sent.offset);
  s.payload_bytes = static_cast<std::uint16_t>(sent.length - (fin ? 1 : 0));
  if (fin) s.flags |= kTcpFin;
  if (end >= written_) s.flags |= kTcpPsh;
  // RFC 3168, 6.1.5 forbids ECT here; a sender that tells marks apart may use it.
  const bool ect =
      ecn_ && s.payload_bytes != 0 && row_of(context_.config.control.controller).accurate_ecn_echo;
  s.ecn = ect ? Ecn::kEct0 : Ecn::kNotEct;
  if (sent.offset == una_) arm_rto(now + rto_.rto());
  ++context_.counters.retransmitted;
  ++context_.memory.events.retransmitted;
}

void TcpSender::fill_new(TcpSegment& s, Time now) noexcept {
  if (scoreboard_.empty() && context_.config.reuse == ConnectionReuse::kIdleRestart && nxt_ != 0 &&
      now - last_sent_ > rto_.rto()) {
    control_->on_idle(now);
    cwnd_ = control_->cwnd_bytes();
  }
  const std::uint32_t payload = new_payload();
  const std::uint64_t end = nxt_ + payload;
  const bool fin = closing_ && end == written_;
  s.sequence = space_.wire(nxt_);
  s.payload_bytes = static_cast<std::uint16_t>(payload);
  if (fin) s.flags |= kTcpFin;
  if (end == written_) s.flags |= kTcpPsh;
  if (payload != 0) {
    if (ecn_) s.ecn = Ecn::kEct0;
    if (cwr_pending_) s.flags |= kTcpCwr;  // RFC 3168, 6.1.2
    cwr_pending_ = false;
    if (watches_ && watched_ >= nxt_ && watched_ < end) {
      watched_ = static_cast<std::uint64_t>(now.time_since_epoch().count());
      watches_ = false;
      watched_sent_ = true;
    }
  }
  const bool first = scoreboard_.flight() == nullptr;
  scoreboard_.push(context_.memory, nxt_, payload + (fin ? 1 : 0), now);
  if (first) {
    Flight& flight = *scoreboard_.flight();
    flight.reduced_until = reduced_here_ ? una_ : una_ - 1;
    flight.by_time = by_time_;
    flight.recovery_point = recovered_here_ ? una_ : 0;
    flight.probe_end = probe_here_ ? una_ : 0;
    flight.probe_resent = probe_here_;
  }
  nxt_ = end + (fin ? 1 : 0);
  note_window_use();
}

/// Probes leave at intervals that double, for as long as they are answered.
bool TcpSender::on_idle_timer(Time now) noexcept {
  rto_deadline_ = kNever;
  if (!window_closed()) return true;
  if (timeouts_ == kMaxTimeouts) return false;
  ++timeouts_;
  probe_due_ = true;
  Duration interval = rto_.rto();
  for (std::uint8_t i = 0; i <= probes_ && interval < context_.config.max_rto; ++i) interval *= 2;
  if (probes_ < kMaxTimeouts) ++probes_;
  rto_deadline_ = now + std::min(interval, context_.config.max_rto);
  return true;
}

bool TcpSender::on_timer(Time now) noexcept {
  if (pace_held_) [[unlikely]]
    end_pace_hold(now);
  if (now < rto_deadline_) return true;
  if (scoreboard_.empty()) return on_idle_timer(now);
  if (by_time_ && on_aux_timer(now)) return true;
  if (timeouts_ == kMaxTimeouts) return false;
  ++timeouts_;
  on_timeout(now);
  return true;
}

void TcpSender::on_timeout(Time now) noexcept {
  ++context_.counters.rtos_data;
  control_->on_timeout(flight_bytes(), now);
  cwnd_ = control_->cwnd_bytes();
  Flight& flight = *scoreboard_.flight();
  if (by_time_) {
    const Rack& rack = flight.rack;
    const auto window =
        rack.reorder_window(reorder_, recovering(), scoreboard_.sacked(), rto_.srtt());
    scoreboard_.mark_lost_by_age(now, rack.rtt() + window);
    arm_aux(Flight::Aux::kNone, kNever);
    tail_probe_ = false;
  } else {
    scoreboard_.mark_all_lost();
  }
  phase_ = Phase::kAfterTimeout;
  flight.recovery_point = nxt_;  // RFC 6675, 5.1
  note_reduction(now);
  resend_first_ = true;
  rto_.back_off(rto_bounds());
  arm_rto(now + rto_.rto());
}

}  // namespace outrider::tg
