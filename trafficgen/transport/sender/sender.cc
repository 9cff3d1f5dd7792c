#include "trafficgen/transport/sender/sender.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "trafficgen/transport/base/timestamps.h"

namespace outrider::tg {

TcpSender::TcpSender(const TcpContext& context, std::uint32_t initial_sequence)
    : state_(context, initial_sequence),
      shaping_(context.config.pacing || state_.window.control().fixed_rate().bits_per_second != 0) {
  assert(state_.stream.mss_bytes() > 0 && state_.stream.mss_bytes() == context.config.mss_bytes);
  assert(context.config.receive_buffer_bytes > 0 &&
         context.config.receive_buffer_bytes <= kMaxWindowBytes);
}

std::uint32_t segments_limit(const TcpConfig& config) noexcept {
  if (config.mss_bytes == 0) return 64;
  return std::bit_ceil(config.receive_buffer_bytes / config.mss_bytes + 64);
}

void TcpSender::start(const Peer& peer) noexcept {
  state_.timestamps = peer.timestamps;
  std::uint16_t mss = state_.stream.mss_bytes();
  // The timestamp option reduces the payload, so that full segments stay as long (RFC 6691).
  if (state_.timestamps && mss > TimestampClock::kOptionBytes) mss -= TimestampClock::kOptionBytes;
  if (peer.mss_bytes != 0 && peer.mss_bytes < mss) mss = static_cast<std::uint16_t>(peer.mss_bytes);
  state_.stream.start(mss, peer.window_bytes, peer.window_scale);
  state_.window.start(state_.context.config, mss, peer.ecn);
  state_.sack = peer.sack;
  state_.joins = state_.context.config.segment_bursts == SegmentJoining::kLinux;
  state_.shaped = state_.joins || shaping_.paced();
  state_.by_time = peer.sack && state_.context.config.loss_detection == LossDetection::kRackTlp;
}

/// Returns true if the flight may grow. If only memory is missing, a deadline is set.
bool TcpSender::can_borrow(Time now) noexcept {
  switch (state_.scoreboard.segments().room(state_.context.memory,
                                            segments_limit(state_.context.config))) {
    case SegmentRing::Room::kYes:
      return true;
    case SegmentRing::Room::kNoSegments:
      ++state_.context.memory.counters.segments_exhausted;
      return false;
    case SegmentRing::Room::kNoFlight:
      if (!state_.timer.armed()) {
        ++state_.context.memory.counters.flights_exhausted;
        state_.timer.set(now + kMemoryRetry);
      }
      return false;
    case SegmentRing::Room::kLimit:
      return false;
  }
  return false;
}

/// Sets the deadline of the first probe of a closed window if nothing else is timed: after an RTO
/// (RFC 9293, 3.8.6.1).
void TcpSender::prepare_probe(Time now) noexcept {
  if (!state_.timer.armed() && state_.scoreboard.empty())
    state_.timer.set(now + state_.timer.rto());
}

void TcpSender::fill_new(TcpSegment& s, Time now) noexcept {
  const std::uint64_t offset = state_.stream.nxt();
  if (state_.scoreboard.empty() && state_.context.config.reuse == ConnectionReuse::kIdleRestart &&
      offset != 0 && shaping_.idle(now) > state_.timer.rto()) {
    state_.window.on_idle(shaping_.idle(now), state_.timer.rto(), now);
  }
  const std::uint32_t payload = state_.stream.new_payload(state_.scoreboard);
  const std::uint32_t length = state_.stream.take_new(s, payload, now);
  if (payload != 0) state_.window.mark_new_data(s);
  const bool first = state_.scoreboard.flight() == nullptr;
  state_.scoreboard.push(state_.context.memory, offset, length, now);
  Flight& flight = *state_.scoreboard.flight();
  if (first) {
    flight.by_time = state_.by_time;
    losses_.begin_flight(state_, flight);
  }
  state_.window.note_use(state_.window_filled(), state_.stream, flight, true, now);
  if (state_.window.unneeded(state_.timer.rto(), now)) [[unlikely]]
    lower_unused_window(now);
}

/// Lowers a window that the application or the peer has not let the sender fill for an RTO. A
/// sender that recovers, or that still has something to send, keeps its window.
void TcpSender::lower_unused_window(Time now) noexcept {
  const bool open =
      losses_.recovery().open() && state_.past_reduction() >= 0 && state_.scoreboard.sacked() == 0;
  const bool kept = state_.context.config.reuse != ConnectionReuse::kIdleRestart;
  if (open && !kept && state_.stream.all_left()) state_.window.unused(now);
}

void TcpSender::fill(TcpSegment& s, Time now) noexcept {
  assert(can_send(now));
  if (state_.scoreboard.empty()) {  // memory is available again, or the window is open
    state_.timer.set(kNever);
    persistence_.end_probes();
  }
  if (state_.tail_probe.due()) [[unlikely]]
    fill_tail_probe(s, now);
  else if (state_.scoreboard.lost_pending() == 0) [[likely]] fill_new(s, now);
  else {
    resend_segment(state_.scoreboard.resend(now), s, now);
    losses_.recovery().on_resent();
    state_.window.note_use(state_.window_filled(), state_.stream, *state_.scoreboard.flight(),
                           false, now);
  }
  if (state_.window.reducing()) [[unlikely]]
    state_.scoreboard.flight()->reduction.on_sent(s.payload_bytes);
  if (state_.by_time) {
    Flight& flight = *state_.scoreboard.flight();
    if (flight.rto_at == kNever)
      state_.timer.arm(&flight, now + state_.timer.rto());  // RFC 6298, 5.1
    losses_.arm_tail_probe(state_, now);
  } else if (!state_.timer.armed()) {
    state_.timer.set(now + state_.timer.rto());
  }
  shaping_.on_sent(state_, s.payload_bytes, now);
}

void TcpSender::resend_segment(const SentSegment& sent, TcpSegment& s, Time now) noexcept {
  state_.stream.take_again(sent, s);
  // RFC 3168, 6.1.5, forbids ECT here. A sender whose peer echoes each mark may use it.
  const bool ect = state_.window.ecn() && s.payload_bytes != 0 &&
                   row_of(state_.context.config.control.controller).accurate_ecn_echo;
  s.ecn = ect ? Ecn::kEct0 : Ecn::kNotEct;
  if (sent.offset == state_.stream.una())
    state_.timer.arm(state_.scoreboard.flight(), now + state_.timer.rto());
  ++state_.context.counters.retransmitted;
  ++state_.context.memory.events.retransmitted;
}

/// Writes a probe (RFC 8985, 7.3): new data if there is any, whatever the congestion window allows,
/// else the newest segment again.
void TcpSender::fill_tail_probe(TcpSegment& s, Time now) noexcept {
  state_.tail_probe.spend();
  const bool something =
      state_.stream.new_payload(state_.scoreboard) != 0 || state_.stream.fin_is_next();
  const bool fresh = something && (state_.scoreboard.segments().has_room() || can_borrow(now));
  if (fresh) fill_new(s, now);
  else resend_segment(state_.scoreboard.resend_last(now), s, now);
  state_.tail_probe.on_sent(*state_.scoreboard.flight(), state_.stream.nxt(), fresh);
  ++state_.context.memory.events.tail_probes;
}

bool TcpSender::on_timer(Time now) noexcept {
  shaping_.end_hold(now);
  if (now < state_.timer.deadline()) return true;
  if (state_.scoreboard.empty()) return on_idle_timer(now);
  if (state_.by_time && losses_.on_aux_timer(state_, now)) return true;
  if (!persistence_.on_timeout()) return false;
  losses_.on_timeout(state_, now);
  return true;
}

bool TcpSender::on_idle_timer(Time now) noexcept {
  state_.timer.set(kNever);
  if (!state_.stream.window_closed()) return true;
  if (!persistence_.on_timeout()) return false;
  state_.timer.set(now +
                   persistence_.begin_probe(state_.timer.rto(), state_.context.config.max_rto));
  return true;
}

}  // namespace outrider::tg
