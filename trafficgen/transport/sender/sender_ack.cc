// What an acknowledgment does to the sender.
#include <algorithm>
#include <cassert>

#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {

std::uint32_t TcpSender::flight_bytes() const noexcept {
  const std::uint64_t flight = nxt_ - una_;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(flight, cwnd_));
}

int TcpSender::past_reduction() const noexcept {
  if (scoreboard_.flight() == nullptr) return reduced_here_ ? 0 : 1;
  const std::uint64_t end = scoreboard_.flight()->reduced_until;
  return una_ < end ? -1 : una_ > end ? 1 : 0;
}

void TcpSender::release_flight() noexcept {
  if (scoreboard_.flight() == nullptr) return;
  reduced_here_ = past_reduction() == 0;
  const Flight& flight = *scoreboard_.flight();
  recovered_here_ = una_ != 0 && flight.recovery_point == una_;
  probe_here_ = flight.probe_end == una_ && flight.probe_resent && una_ != 0;
  tail_probe_ = false;
  scoreboard_.release(context_.memory);
}

/// RFC 5961, 5.2: neither ahead of what was sent nor older than a window. Deviation:
/// MAX.SND.WND is the largest window that the peer can tell, not the largest it has told.
bool TcpSender::plausible(std::int64_t ack) noexcept {
  TcpEvents& events = context_.memory.events;
  const auto una = static_cast<std::int64_t>(una_);
  if (ack > static_cast<std::int64_t>(nxt_)) ++events.acks_of_unsent;
  else if (ack < una - (std::int64_t{UINT16_MAX} << peer_window_scale_)) ++events.acks_too_old;
  else {
    if (ack < una) ++events.old_acks;
    return true;
  }
  return false;
}

bool TcpSender::on_ack(const TcpSegment& s, Time now, bool current) noexcept {
  const std::int64_t ack = space_.offset(s.acknowledgment, una_);
  const auto una_before = una_;
  if (ack > static_cast<std::int64_t>(nxt_) || ack < static_cast<std::int64_t>(una_before))
      [[unlikely]] {
    if (!plausible(ack)) return false;
  }
  const auto una = static_cast<std::uint64_t>(std::max<std::int64_t>(ack, 0));
  const std::uint64_t edge = una + (std::uint64_t{s.window} << peer_window_scale_);
  const bool repeated = !sack_ && duplicates_ack(s, ack, edge);
  // RFC 9293, 3.10.7.4: neither an old ACK nor an old segment takes a window back.
  if (edge > peer_edge_ || (current && una >= una_before)) peer_edge_ = edge;

  if (scoreboard_.empty() || peer_edge_ < nxt_) timeouts_ = 0;  // a probe was answered

  const std::uint32_t flight = flight_bytes();  // as the ACK found it
  const bool ece = ecn_ && context_.config.obey_ece && s.has(kTcpEce);
  AckEvent event{.now = now, .in_flight_bytes = scoreboard_.pipe_bytes()};
  event.in_recovery =
      ece || phase_ == Phase::kRecovery || (phase_ == Phase::kOpen && past_reduction() < 0);
  event.in_loss_recovery = phase_ == Phase::kRecovery;
  event.cwnd_limited = window_was_full();
  Duration rtt{};
  const bool duplicate = sack_ && reports_duplicate(s);
  if (duplicate) ++context_.memory.events.duplicates_told;
  if (by_time_ && scoreboard_.flight() != nullptr)
    scoreboard_.flight()->rack.begin_ack(now, s.has_timestamps && timestamps_ ? s.ts_echo : 0);
  const std::uint32_t departed = sack_ ? 0 : scoreboard_.put_departed_back();
  if (una > una_before) {
    const Scoreboard::Acknowledged acked = scoreboard_.acknowledge(una);
    event.acked_bytes = acked.bytes;
    rtt = round_trip(acked, s, now);
    on_advance(una, rtt, now);
  }
  if (!sack_) [[unlikely]] {
    on_ack_without_sack(una_before, repeated, departed);
  } else if (s.sack_blocks != 0) [[unlikely]] {
    take_sack(s, event.acked_bytes);
    if (!by_time_) scoreboard_.detect_losses();
  }
  if (by_time_) on_rack_ack(duplicate, now);
  if (phase_ != Phase::kOpen && !below_recovery_point()) end_phase();
  if (event.acked_bytes != 0) {
    event.ece_bytes = ece ? event.acked_bytes : 0;
    event.srtt = rto_.srtt();
    event.rtt = std::max(rtt, Duration::zero());
    event.snd_una = una_;
    event.snd_nxt = nxt_;
    control_->on_ack(event);
  }
  if (phase_ == Phase::kOpen && (scoreboard_.lost_pending() != 0 || scoreboard_.head_lost())) {
    enter_recovery(flight, now);
  }
  if (ece) obey_ece(flight, now);
  if (by_time_) take_probe_answer(s, ack, una > una_before, duplicate, flight, now);
  cwnd_ = control_->cwnd_bytes();
  if (scoreboard_.empty()) release_flight();
  return true;
}

/// From our own record of the departure, exact to the nanosecond. Where Karn's
/// rule forbids that, from the echo (RFC 7323, 4), if its tick is below an eighth
/// of the result. @return negative if there is no sample
Duration TcpSender::round_trip(const Scoreboard::Acknowledged& acked, const TcpSegment& s,
                               Time now) const noexcept {
  if (acked.sent_at) return now - *acked.sent_at;
  if (!timestamps_ || !s.has_timestamps || s.ts_echo == 0) return Duration{-1};
  const Duration echoed = TimestampClock::since(s.ts_echo, now);
  const bool plausible = echoed >= 8 * TimestampClock::kTick && echoed <= context_.config.max_rto;
  return plausible ? echoed : Duration{-1};
}

void TcpSender::on_advance(std::uint64_t una, Duration rtt, Time now) noexcept {
  una_ = una;
  timeouts_ = 0;
  tail_probe_ = false;
  if (rtt >= Duration::zero()) {
    rto_.on_sample(rtt, rto_bounds());
    probe_spent_ = false;
  }
  arm_rto(scoreboard_.empty() ? kNever : now + rto_.rto());  // RFC 6298, 5.2 and 5.3
}

/// Blocks at or below una_ are old news (a late ACK, or D-SACK, RFC 2883).
void TcpSender::take_sack(const TcpSegment& s, std::uint32_t& acked_bytes) noexcept {
  const std::size_t blocks = std::min<std::size_t>(s.sack_blocks, s.sack.size());
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::int64_t begin = space_.offset(s.sack[i].begin, una_);
    const std::int64_t end = space_.offset(s.sack[i].end, una_);
    const auto una = static_cast<std::int64_t>(una_);
    if (begin >= end || end > static_cast<std::int64_t>(nxt_) || begin < una - kMaxWindowBytes) {
      ++context_.memory.events.sacks_out_of_window;
    } else if (end > una) {
      acked_bytes += scoreboard_.sack(static_cast<std::uint64_t>(std::max(begin, una)),
                                      static_cast<std::uint64_t>(end));
    }
  }
}

/// The window of data that is out now has had its reduction. (RFC 3168, 6.1.2)
void TcpSender::note_reduction(Time now) noexcept {
  if (scoreboard_.flight() != nullptr) {
    scoreboard_.flight()->reduced_until = nxt_;
    scoreboard_.flight()->reduced_ns = now.time_since_epoch().count();
  } else {
    reduced_here_ = true;
  }
  cwr_pending_ = ecn_;
}

/// Everything up to the recovery point is acknowledged.
void TcpSender::end_phase() noexcept {
  if (by_time_) Rack::on_recovery_end(reorder_);
  phase_ = Phase::kOpen;
  resend_first_ = false;
}

/// RFC 6675, section 5, step 4.
void TcpSender::enter_recovery(std::uint32_t flight, Time now) noexcept {
  phase_ = Phase::kRecovery;
  scoreboard_.flight()->recovery_point = nxt_;
  resend_first_ = scoreboard_.lost_pending() != 0;
  ++context_.counters.fast_recoveries;
  if (past_reduction() < 0) return;  // ECE has reduced this window already
  control_->on_congestion(CongestionControl::Congestion::kLoss, flight, now);
  note_reduction(now);
}

/// Once per window. Strictly above: until data that left after the reduction is
/// acknowledged, the peer cannot have seen CWR and goes on echoing.
void TcpSender::obey_ece(std::uint32_t flight, Time now) noexcept {
  if (phase_ == Phase::kRecovery || past_reduction() <= 0) return;
  control_->on_congestion(CongestionControl::Congestion::kEce, flight, now);
  ++context_.counters.ece_reductions;
  note_reduction(now);
}

}  // namespace outrider::tg
