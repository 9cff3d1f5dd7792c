// The sender's processing of acknowledgments.
#include <algorithm>
#include <cassert>

#include "trafficgen/transport/base/timestamps.h"
#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {
namespace {

/// Returns true if the ACK has a D-SACK (RFC 2883, section 4): its first block lies below the
/// acknowledgment, or within the second block.
bool reports_duplicate(const TcpSegment& s) noexcept {
  if (s.sack_blocks == 0) return false;
  const auto from_ack = [&s](std::uint32_t sequence) {
    return static_cast<std::int32_t>(sequence - s.acknowledgment);
  };
  const SackBlock& first = s.sack[0];
  if (static_cast<std::int32_t>(first.end - first.begin) <= 0) return false;
  if (from_ack(first.end) <= 0) return true;
  if (s.sack_blocks < 2) return false;
  const SackBlock& second = s.sack[1];
  return from_ack(first.begin) >= from_ack(second.begin) &&
         from_ack(first.end) <= from_ack(second.end);
}

/// Returns true for a duplicate ACK (RFC 5681, 2). @param window_edge as this ACK advertises it
bool repeats(const TcpSegment& s, std::int64_t ack, std::uint64_t window_edge,
             const SendStream& stream) noexcept {
  return ack == static_cast<std::int64_t>(stream.una()) && s.payload_bytes == 0 &&
         !s.has(kTcpFin) && window_edge == stream.peer_edge();
}

/// Returns the round trip, from our own record of the departure, exact to the nanosecond. Where
/// Karn's rule forbids that, it uses the echo (RFC 7323, 4) if its tick is below an eighth of the
/// result. Linux takes any echo, for a tick at least: with a margin of 200 ms above the round trip
/// the tick does not matter, and the first answer ends the back-off.
/// @param echo TSecr, 0: none; @return negative if there is no sample
Duration round_trip(const Scoreboard::Acknowledged& acked, std::uint32_t echo,
                    const TcpConfig& config, Time now) noexcept {
  if (acked.sent_at) return now - *acked.sent_at;
  if (echo == 0) return Duration{-1};
  Duration echoed = TimestampClock::since(echo, now);
  Duration least = 8 * TimestampClock::kTick;
  if (config.rto == RtoRule::kLinux && echoed >= Duration::zero())
    least = echoed = std::max(echoed, TimestampClock::kTick);
  return echoed >= least && echoed <= config.max_rto ? echoed : Duration{-1};
}

/// Returns true if recovery from losses keeps the window from growing. Losses reduce no window
/// after a time-out (RFC 6675, 5.1), so nothing but the cumulative acknowledgment may open it (RFC
/// 5681, 3.1): the oldest segment may be lost again and again, and its time-outs are ever further
/// apart.
bool holds_window(const LossRecovery& recovery, bool advances) noexcept {
  return recovery.fast() || (recovery.after_timeout() && !advances);
}

/// Notes the SACK blocks. Blocks at or below una are ignored (a late ACK, or D-SACK, RFC 2883).
/// @return bytes that were not reported before
std::uint32_t take_sack(const TcpSegment& s, const SendStream& stream, Scoreboard& scoreboard,
                        TcpEvents& events) noexcept {
  std::uint32_t bytes = 0;
  const std::size_t blocks = std::min<std::size_t>(s.sack_blocks, s.sack.size());
  const auto una = static_cast<std::int64_t>(stream.una());
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::int64_t begin = stream.offset(s.sack[i].begin);
    const std::int64_t end = stream.offset(s.sack[i].end);
    if (begin >= end || end > static_cast<std::int64_t>(stream.nxt()) ||
        begin < una - kMaxWindowBytes) {
      ++events.sacks_out_of_window;
    } else if (end > una) {
      bytes += scoreboard.sack(static_cast<std::uint64_t>(std::max(begin, una)),
                               static_cast<std::uint64_t>(end));
    }
  }
  return bytes;
}

}  // namespace

bool TcpSender::on_any_ack(const TcpSegment& s, Time now, bool current) noexcept {
  const std::int64_t ack = stream_.offset(s.acknowledgment);
  const auto una_before = stream_.una();
  const bool usual = ack >= static_cast<std::int64_t>(una_before) &&
                     ack <= static_cast<std::int64_t>(stream_.nxt());
  if (!usual && !stream_.plausible(ack, context_.memory.events)) [[unlikely]]
    return false;
  const auto una = static_cast<std::uint64_t>(std::max<std::int64_t>(ack, 0));
  const std::uint64_t edge = stream_.window_edge(una, s.window);
  const bool repeated = !sack_ && !scoreboard_.empty() && repeats(s, ack, edge, stream_);
  // An old ACK says nothing of the window, and an old segment takes none back (RFC 9293, 3.10.7.4).
  if (una >= una_before) stream_.take_window(edge, current);
  // The ACK answers a probe.
  if (scoreboard_.empty() || stream_.peer_edge() < stream_.nxt()) persistence_.on_answer();

  const std::uint32_t base = window_.reduction_base_bytes(stream_);  // before this ACK takes effect
  const bool ece = window_.ecn() && context_.config.obey_ece && s.has(kTcpEce);
  AckEvent event{.now = now, .in_flight_bytes = scoreboard_.pipe_bytes()};
  event.in_loss_recovery = holds_window(recovery_, una > una_before);
  event.in_recovery = ece || event.in_loss_recovery || (recovery_.open() && past_reduction() < 0);
  event.cwnd_limited = window_.limits(scoreboard_.flight(), una_before);
  const bool duplicate = sack_ && reports_duplicate(s);
  if (duplicate) ++context_.memory.events.duplicates_told;
  const std::uint32_t echoed = s.has_timestamps && timestamps_ ? s.ts_echo : 0;
  if (by_time_ && scoreboard_.flight() != nullptr)
    scoreboard_.flight()->rack.begin_ack(now, echoed);
  const std::uint32_t departed = sack_ ? 0 : scoreboard_.put_departed_back();
  Duration rtt{};
  if (una > una_before) {
    const Scoreboard::Acknowledged acked = scoreboard_.acknowledge(una);
    event.acked_bytes = acked.bytes;
    rtt = round_trip(acked, echoed, context_.config, now);
    on_advance(una, rtt, now);
  }
  const std::int64_t reported = sack_ ? 0 : on_ack_without_sack(una_before, repeated, departed);
  if (sack_ && s.sack_blocks != 0) [[unlikely]] {
    event.acked_bytes += take_sack(s, stream_, scoreboard_, context_.memory.events);
    if (!by_time_) scoreboard_.detect_losses();
  }
  if (by_time_) on_rack_ack(duplicate, now);
  if (!recovery_.open() && !LossRecovery::below_point(scoreboard_.flight(), stream_.una())) {
    rack_.on_recovery_end();
    recovery_.end();
  }
  if (event.acked_bytes != 0) {
    event.ece_bytes = ece ? event.acked_bytes : 0;
    event.srtt = timer_.srtt();
    event.paced = pacing_.paced();
    event.rtt = std::max(rtt, Duration::zero());
    window_.on_ack(event, stream_);
  }
  if (recovery_.open() && (scoreboard_.lost_pending() != 0 || scoreboard_.head_lost())) {
    enter_recovery(base, now);
  }
  if (ece) obey_ece(base, now);
  if (by_time_) take_probe_answer(s, ack, una > una_before, duplicate, base, now);
  update_window(event.acked_bytes + reported, una > una_before);
  if (scoreboard_.empty()) end_flight();
  return true;
}

void TcpSender::on_advance(std::uint64_t una, Duration rtt, Time now) noexcept {
  stream_.advance(una);
  persistence_.on_answer();
  tail_probe_.cancel();
  if (rtt >= Duration::zero()) {
    timer_.on_sample(rtt,
                     {static_cast<std::uint32_t>(una), static_cast<std::uint32_t>(stream_.nxt())},
                     context_.config);
    tail_probe_.on_sample();
  }
  // RFC 6298, 5.2 and 5.3
  timer_.arm(scoreboard_.flight(), scoreboard_.empty() ? kNever : now + timer_.rto());
}

/// @param una_before before this ACK, @param duplicate see repeats(),
/// @param departed Flight::departed before this ACK; the pipe does not contain it now
/// @return by how much `departed` has grown; negative if the ACK covers what had departed before
std::int64_t TcpSender::on_ack_without_sack(std::uint64_t una_before, bool duplicate,
                                            std::uint32_t departed) noexcept {
  if (scoreboard_.empty()) return 0;
  Flight& flight = *scoreboard_.flight();
  NewReno::Verdict verdict{.departed = departed};
  if (const std::uint64_t una = stream_.una(); una > una_before) {
    const bool partial = recovery_.fast() && LossRecovery::below_point(&flight, una);
    verdict = flight.newreno.on_advance(una - una_before, partial, departed, stream_.mss_bytes());
  } else if (duplicate && !recovery_.after_timeout()) {
    const bool fresh = LossRecovery::beyond_point(flight, una);
    verdict = flight.newreno.on_duplicate(recovery_.fast(), fresh, departed, stream_.mss_bytes());
  }
  if (verdict.first_lost && !scoreboard_.head_lost()) {
    scoreboard_.lose_head();
    recovery_.resend_first();
  }
  scoreboard_.take_departed(verdict.departed);
  return std::int64_t{flight.departed} - departed;
}

void TcpSender::on_rack_ack(bool duplicate, Time now) noexcept {
  Flight* flight = scoreboard_.flight();
  if (flight == nullptr) return;
  if (scoreboard_.sacked() != 0) tail_probe_.cancel();
  rack_.on_ack(*flight, duplicate, stream_);
  detect_losses_by_time(now);
}

/// @param ack stream offset, @param base of a reduction, before this ACK took effect [bytes]
void TcpSender::take_probe_answer(const TcpSegment& s, std::int64_t ack, bool advances,
                                  bool duplicate, std::uint32_t base, Time now) noexcept {
  Flight* const f = scoreboard_.flight();
  const bool repaired = tail_probe_.take_answer(s, ack, advances, duplicate, stream_, f);
  // At once, as in Linux: what was in flight before the probe is acknowledged.
  if (repaired && past_reduction() >= 0)
    window_.reduce(CongestionWindow::Cause::kLoss, base, f, stream_.nxt(), now);
  if (f != nullptr && advances && !scoreboard_.empty()) arm_tail_probe(now);
}

/// A lost retransmission is a second sign of congestion (RFC 5681, 4.3). Linux heeds it after a
/// time-out alone, and then recovers from it as from a first loss (tcp_fastretrans_alert()).
void TcpSender::detect_losses_by_time(Time now) noexcept {
  const bool recovering = !recovery_.open();
  const bool again = rack_.detect(scoreboard_, timer_, recovering, now);
  if (!recovering || !again) return;
  if (context_.config.lost_retransmission == LostRetransmission::kLinux) {
    if (!recovery_.after_timeout()) return;
    recovery_.enter(*scoreboard_.flight(), stream_.nxt(), scoreboard_.lost_pending() != 0);
    ++context_.counters.fast_recoveries;
  }
  reduce(CongestionWindow::Cause::kLoss, window_.reduction_base_bytes(stream_), now);
}

/// @param base see CongestionWindow::reduction_base_bytes()
void TcpSender::reduce(CongestionWindow::Cause cause, std::uint32_t base, Time now) noexcept {
  tail_probe_.forget(scoreboard_.flight());
  if (context_.config.reduction == WindowReduction::kPrr)
    window_.begin_reduction(cause, base, scoreboard_.flight(), stream_.nxt(), now);
  else window_.reduce(cause, base, scoreboard_.flight(), stream_.nxt(), now);
}

/// @param delivered bytes that this ACK reports as arrived
void TcpSender::take_step(std::int64_t delivered, bool advances) noexcept {
  const bool ends = !recovery_.fast() && past_reduction() >= 0;
  window_.take_step(
      *scoreboard_.flight(),
      {.delivered_bytes = static_cast<std::uint32_t>(std::max<std::int64_t>(delivered, 0)),
       .pipe_bytes = scoreboard_.pipe_bytes(),
       .mss_bytes = stream_.mss_bytes(),
       .safe = advances},
      ends);
}

/// Enters recovery by RFC 6675, section 5, step 4.
void TcpSender::enter_recovery(std::uint32_t base, Time now) noexcept {
  recovery_.enter(*scoreboard_.flight(), stream_.nxt(), scoreboard_.lost_pending() != 0);
  ++context_.counters.fast_recoveries;
  tail_probe_.forget(scoreboard_.flight());
  if (past_reduction() < 0) return;  // ECE has reduced this window already
  reduce(CongestionWindow::Cause::kLoss, base, now);
}

/// Reduces the window for ECE, once per window. The comparison is strict: until data that left
/// after the reduction is acknowledged, the peer cannot have seen CWR and continues to echo.
void TcpSender::obey_ece(std::uint32_t base, Time now) noexcept {
  if (recovery_.fast() || past_reduction() <= 0) return;
  reduce(CongestionWindow::Cause::kEce, base, now);
  ++context_.counters.ece_reductions;
}

void TcpSender::end_flight() noexcept {
  const Flight* const flight = scoreboard_.flight();
  if (flight == nullptr) return;
  window_.end_flight(*flight, stream_.una());
  recovery_.end_flight(*flight, stream_.una());
  tail_probe_.end_flight(*flight, stream_.una());
  scoreboard_.release(context_.memory);
}

}  // namespace outrider::tg
