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

/// Returns what the window is told of an ACK, as far as it is known before the ACK takes effect.
/// @param advances the ACK acknowledges more than any before
[[gnu::always_inline]] inline AckEvent event_before(const SendState& state,
                                                    const LossRecovery& recovery, bool advances,
                                                    bool ece, Time now) noexcept {
  AckEvent event{.now = now, .in_flight_bytes = state.scoreboard.pipe_bytes()};
  event.in_loss_recovery = holds_window(recovery, advances);
  event.in_recovery =
      ece || event.in_loss_recovery || (recovery.open() && state.past_reduction() < 0);
  event.cwnd_limited = state.window.limits(state.scoreboard.flight(), state.stream.una());
  return event;
}

/// Notes the SACK blocks. Blocks at or below una are ignored (a late ACK, or D-SACK, RFC 2883).
/// @return bytes that were not reported before
std::uint32_t take_sack(const TcpSegment& s, const SendStream& stream, Scoreboard& scoreboard,
                        TcpEvents& events) noexcept {
  std::uint32_t bytes = 0;
  const std::size_t blocks = std::min<std::size_t>(s.sack_blocks, s.sack.size());
  const auto una = static_cast<std::int64_t>(stream.una());
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::int64_t begin = stream.numbers().offset(s.sack[i].begin, stream.una());
    const std::int64_t end = stream.numbers().offset(s.sack[i].end, stream.una());
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
  SendStream& stream = state_.stream;
  Scoreboard& scoreboard = state_.scoreboard;
  CongestionWindow& window = state_.window;
  const std::int64_t ack = stream.numbers().offset(s.acknowledgment, stream.una());
  const auto una_before = stream.una();
  const bool usual = ack >= static_cast<std::int64_t>(una_before) &&
                     ack <= static_cast<std::int64_t>(stream.nxt());
  if (!usual && !stream.plausible(ack, state_.context.memory.events)) [[unlikely]]
    return false;
  const auto una = static_cast<std::uint64_t>(std::max<std::int64_t>(ack, 0));
  const std::uint64_t edge = stream.window_edge(una, s.window);
  const bool repeated = !state_.sack && !scoreboard.empty() && repeats(s, ack, edge, stream);
  // An old ACK says nothing of the window, and an old segment takes none back (RFC 9293, 3.10.7.4).
  if (una >= una_before) stream.take_window(edge, current);
  if (scoreboard.empty() || stream.peer_edge() < stream.nxt()) persistence_.on_answer();  // a probe

  const std::uint32_t base = window.reduction_base_bytes(stream);  // before this ACK takes effect
  const bool ece = window.ecn() && state_.context.config.obey_ece && s.has(kTcpEce);
  const bool advances = una > una_before;
  AckEvent event = event_before(state_, losses_.recovery(), advances, ece, now);
  const bool duplicate = state_.sack && reports_duplicate(s);
  if (duplicate) ++state_.context.memory.events.duplicates_told;
  const std::uint32_t echoed = s.has_timestamps && state_.timestamps ? s.ts_echo : 0;
  if (state_.by_time && scoreboard.flight() != nullptr)
    scoreboard.flight()->rack.begin_ack(now, echoed);
  const std::uint32_t departed = state_.sack ? 0 : scoreboard.put_departed_back();
  Duration rtt{};
  if (advances) {
    const Scoreboard::Acknowledged acked = scoreboard.acknowledge(una);
    event.acked_bytes = acked.bytes;
    rtt = round_trip(acked, echoed, state_.context.config, now);
    on_advance(una, rtt, now);
  }
  const std::int64_t reported =
      state_.sack ? 0 : losses_.on_ack_without_sack(state_, una_before, repeated, departed);
  if (state_.sack && s.sack_blocks != 0) [[unlikely]] {
    event.acked_bytes += take_sack(s, stream, scoreboard, state_.context.memory.events);
    if (!state_.by_time) scoreboard.detect_losses();
  }
  if (state_.by_time) losses_.on_rack_ack(state_, duplicate, now);
  losses_.end_recovery(state_);
  if (event.acked_bytes != 0) {
    event.ece_bytes = ece ? event.acked_bytes : 0;
    event.srtt = state_.timer.srtt();
    event.paced = shaping_.paced();
    event.rtt = std::max(rtt, Duration::zero());
    window.on_ack(event, stream);
  }
  losses_.begin_recovery(state_, base, now);
  if (ece) losses_.obey_ece(state_, base, now);
  if (state_.by_time) losses_.take_probe_answer(state_, s, ack, advances, duplicate, base, now);
  losses_.update_window(state_, event.acked_bytes + reported, advances);
  if (scoreboard.empty()) losses_.end_flight(state_);
  return true;
}

void TcpSender::on_advance(std::uint64_t una, Duration rtt, Time now) noexcept {
  state_.stream.advance(una);
  persistence_.on_answer();
  state_.tail_probe.cancel();
  if (rtt >= Duration::zero()) {
    state_.timer.on_sample(
        rtt, {static_cast<std::uint32_t>(una), static_cast<std::uint32_t>(state_.stream.nxt())},
        state_.context.config);
    state_.tail_probe.on_sample();
  }
  // RFC 6298, 5.2 and 5.3
  state_.timer.arm(state_.scoreboard.flight(),
                   state_.scoreboard.empty() ? kNever : now + state_.timer.rto());
}

}  // namespace outrider::tg
