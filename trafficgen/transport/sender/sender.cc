#include "trafficgen/transport/sender/sender.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "trafficgen/transport/base/timestamps.h"

namespace outrider::tg {

TcpSender::TcpSender(const TcpContext& context, std::uint32_t initial_sequence)
    : context_(context),
      stream_(initial_sequence, static_cast<std::uint16_t>(context.config.mss_bytes)),
      timer_(context.config),
      window_(context.config),
      pacing_(context.config.pacing || window_.control().fixed_rate().bits_per_second != 0) {
  assert(stream_.mss_bytes() > 0 && stream_.mss_bytes() == context.config.mss_bytes);
  assert(context.config.receive_buffer_bytes > 0 &&
         context.config.receive_buffer_bytes <= kMaxWindowBytes);
}

std::uint32_t TcpSender::segments_limit(const TcpConfig& config) noexcept {
  if (config.mss_bytes == 0) return 64;
  return std::bit_ceil(config.receive_buffer_bytes / config.mss_bytes + 64);
}

void TcpSender::start(const Peer& peer) noexcept {
  timestamps_ = peer.timestamps;
  std::uint16_t mss = stream_.mss_bytes();
  // The timestamp option reduces the payload, so that full segments stay as long (RFC 6691).
  if (timestamps_ && mss > TimestampClock::kOptionBytes) mss -= TimestampClock::kOptionBytes;
  if (peer.mss_bytes != 0 && peer.mss_bytes < mss) mss = static_cast<std::uint16_t>(peer.mss_bytes);
  stream_.start(mss, peer.window_bytes, peer.window_scale);
  window_.start(context_.config, mss);
  window_.negotiate_ecn(peer.ecn);
  sack_ = peer.sack;
  joins_ = context_.config.segment_bursts == SegmentJoining::kLinux;
  shaped_ = joins_ || pacing_.paced();
  by_time_ = peer.sack && context_.config.loss_detection == LossDetection::kRackTlp;
}

/// Returns true if the flight may grow. If only memory is missing, a deadline is set.
bool TcpSender::can_borrow(Time now) noexcept {
  switch (scoreboard_.room(context_.memory, segments_limit(context_.config))) {
    case Scoreboard::Room::kYes:
      return true;
    case Scoreboard::Room::kNoSegments:
      ++context_.memory.counters.segments_exhausted;
      return false;
    case Scoreboard::Room::kNoFlight:
      if (!timer_.armed()) {
        ++context_.memory.counters.flights_exhausted;
        timer_.set(now + kMemoryRetry);
      }
      return false;
    case Scoreboard::Room::kLimit:
      return false;
  }
  return false;
}

/// Returns true if a segment may leave: with the last one, or as the first of further ones.
bool TcpSender::may_join(Time now) noexcept {
  if (scoreboard_.empty() || scoreboard_.flight()->burst_left != 0) return true;
  const std::uint64_t peer_bytes = stream_.peer_edge() - stream_.una();
  const std::uint64_t peer_left_bytes = stream_.peer_edge() - stream_.nxt();
  const std::uint32_t left_bytes = window_.bytes() - scoreboard_.pipe_bytes();
  const auto smaller = [](std::uint32_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(a, b));
  };
  const Time oldest_left{Duration{scoreboard_.segment(0).sent_ns}};
  Flight& flight = *scoreboard_.flight();
  flight.burst_left = SegmentBursts::segments(
      {.mss_bytes = stream_.mss_bytes(),
       .window_bytes = smaller(window_.bytes(), peer_bytes),
       .room_bytes = smaller(left_bytes, peer_left_bytes),
       .unsent_bytes = stream_.all_left() ? 0 : stream_.written_bytes() - stream_.nxt(),
       .pace = SendPacing::rate(window_, timer_.srtt()),
       .srtt = timer_.srtt(),
       .since_last_sent = now - last_sent_,
       .oldest_age = now - oldest_left,
       .recovering = !recovery_.open()});
  if (flight.burst_left != 0) return true;
  if (left_bytes < peer_left_bytes) window_.note_waiting(stream_, flight, now);
  return false;
}

/// Sets the deadline of the first probe of a closed window if nothing else is timed: after an RTO
/// (RFC 9293, 3.8.6.1).
void TcpSender::prepare_probe(Time now) noexcept {
  if (!timer_.armed() && scoreboard_.empty()) timer_.set(now + timer_.rto());
}

void TcpSender::fill_new(TcpSegment& s, Time now) noexcept {
  const std::uint64_t offset = stream_.nxt();
  if (scoreboard_.empty() && context_.config.reuse == ConnectionReuse::kIdleRestart &&
      offset != 0 && now - last_sent_ > timer_.rto()) {
    window_.on_idle(now - last_sent_, timer_.rto(), now);
  }
  const std::uint32_t payload = stream_.new_payload(scoreboard_);
  const std::uint32_t length = stream_.take_new(s, payload, now);
  if (payload != 0) window_.mark_new_data(s);
  const bool first = scoreboard_.flight() == nullptr;
  scoreboard_.push(context_.memory, offset, length, now);
  Flight& flight = *scoreboard_.flight();
  if (first) {
    flight.by_time = by_time_;
    window_.begin_flight(flight, stream_.una());
    recovery_.begin_flight(flight, stream_.una());
    tail_probe_.begin_flight(flight, stream_.una());
  }
  window_.note_use(scoreboard_.pipe_bytes(), stream_, flight, true, now);
  if (window_.unneeded(timer_.rto(), now)) [[unlikely]]
    lower_unused_window(now);
}

/// Lowers a window that the application or the peer has not let the sender fill for an RTO. A
/// sender that recovers, or that still has something to send, keeps its window.
void TcpSender::lower_unused_window(Time now) noexcept {
  const bool open = recovery_.open() && past_reduction() >= 0 && scoreboard_.sacked() == 0;
  const bool kept = context_.config.reuse != ConnectionReuse::kIdleRestart;
  if (open && !kept && stream_.all_left()) window_.unused(now);
}

void TcpSender::fill(TcpSegment& s, Time now) noexcept {
  assert(can_send(now));
  if (scoreboard_.empty()) {  // memory is available again, or the window is open
    timer_.set(kNever);
    persistence_.end_probes();
  }
  if (tail_probe_.due()) [[unlikely]]
    fill_tail_probe(s, now);
  else if (scoreboard_.lost_pending() == 0) [[likely]] fill_new(s, now);
  else {
    resend_segment(scoreboard_.resend(now), s, now);
    recovery_.on_resent();
    window_.note_use(scoreboard_.pipe_bytes(), stream_, *scoreboard_.flight(), false, now);
  }
  last_sent_ = now;
  if (window_.reducing()) [[unlikely]]
    window_.on_sent(*scoreboard_.flight(), s.payload_bytes);
  if (by_time_) {
    Flight& flight = *scoreboard_.flight();
    if (flight.rto_at == kNever) timer_.arm(&flight, now + timer_.rto());  // RFC 6298, 5.1
    arm_tail_probe(now);
  } else if (!timer_.armed()) {
    timer_.set(now + timer_.rto());
  }
  if (shaped_) [[unlikely]]
    note_departure(s.payload_bytes, now);
}

/// Returns true if a segment may leave now. @param may it might, if all left when it is allowed
bool TcpSender::departs(bool may, Time now) noexcept {
  if (may && joins_ && scoreboard_.lost_pending() == 0) may = may_join(now);
  return pacing_.paced() ? pacing_.allows(may, now) : may;
}

void TcpSender::note_departure(std::uint32_t payload_bytes, Time now) noexcept {
  if (Flight& flight = *scoreboard_.flight(); flight.burst_left != 0) --flight.burst_left;
  if (pacing_.paced()) pacing_.on_sent(payload_bytes, window_, timer_.srtt(), now);
}

void TcpSender::resend_segment(const SentSegment& sent, TcpSegment& s, Time now) noexcept {
  stream_.take_again(sent, s);
  // RFC 3168, 6.1.5, forbids ECT here. A sender whose peer echoes each mark may use it.
  const bool ect = window_.ecn() && s.payload_bytes != 0 &&
                   row_of(context_.config.control.controller).accurate_ecn_echo;
  s.ecn = ect ? Ecn::kEct0 : Ecn::kNotEct;
  if (sent.offset == stream_.una()) timer_.arm(scoreboard_.flight(), now + timer_.rto());
  ++context_.counters.retransmitted;
  ++context_.memory.events.retransmitted;
}

/// Writes a probe (RFC 8985, 7.3): new data if there is any, whatever the congestion window allows,
/// else the newest segment again.
void TcpSender::fill_tail_probe(TcpSegment& s, Time now) noexcept {
  tail_probe_.spend();
  const bool something = stream_.new_payload(scoreboard_) != 0 || stream_.fin_is_next();
  const bool fresh = something && (scoreboard_.has_room() || can_borrow(now));
  if (fresh) fill_new(s, now);
  else resend_segment(scoreboard_.resend_last(now), s, now);
  tail_probe_.on_sent(*scoreboard_.flight(), stream_.nxt(), fresh);
  ++context_.memory.events.tail_probes;
}

void TcpSender::arm_tail_probe(Time now) noexcept {
  // TCP_TIMEOUT_MIN of Linux 6.1, two jiffies at 250 Hz, in tcp_schedule_loss_probe(). Deviation:
  // no rounding to jiffies, which makes its timers up to 4 ms later or earlier.
  constexpr Duration kTwoTicks = std::chrono::milliseconds(8);
  const TcpConfig& c = context_.config;
  const auto slack =
      c.tail_probe == TailProbe::kLinux
          ? TailLossProbe::Slack{.of_one = c.min_rto, .of_several = kTwoTicks}
          : TailLossProbe::Slack{.of_one = c.delayed_ack, .of_several = Duration::zero()};
  tail_probe_.arm(scoreboard_, *scoreboard_.flight(), timer_, !recovery_.open(), slack, now);
}

bool TcpSender::on_timer(Time now) noexcept {
  pacing_.end_hold(now);
  if (now < timer_.deadline()) return true;
  if (scoreboard_.empty()) return on_idle_timer(now);
  if (by_time_ && on_aux_timer(now)) return true;
  if (!persistence_.on_timeout()) return false;
  on_timeout(now);
  return true;
}

bool TcpSender::on_idle_timer(Time now) noexcept {
  timer_.set(kNever);
  if (!stream_.window_closed()) return true;
  if (!persistence_.on_timeout()) return false;
  timer_.set(now + persistence_.begin_probe(timer_.rto(), context_.config.max_rto));
  return true;
}

/// @return false if the RTO has expired instead of the auxiliary timer
bool TcpSender::on_aux_timer(Time now) noexcept {
  Flight& flight = *scoreboard_.flight();
  if (now < flight.aux_at) return false;
  if (flight.aux == Flight::Aux::kProbe) {
    tail_probe_.on_timer();
    timer_.arm_aux(flight, Flight::Aux::kNone, kNever);
    timer_.arm(&flight, now + timer_.rto());  // RFC 8985, 7.3
    return true;
  }
  if (now >= flight.rto_at) return false;
  const std::uint32_t bytes = window_.reduction_base_bytes(stream_);
  detect_losses_by_time(now);
  if (recovery_.open() && scoreboard_.lost_pending() != 0) enter_recovery(bytes, now);
  update_window(0, false);
  return true;
}

void TcpSender::on_timeout(Time now) noexcept {
  ++context_.counters.rtos_data;
  window_.on_timeout(recovery_.fast() || (recovery_.open() && past_reduction() < 0), stream_, now);
  Flight& flight = *scoreboard_.flight();
  if (by_time_) {
    rack_.on_timeout(scoreboard_, timer_, !recovery_.open(), now);
    tail_probe_.cancel();
    tail_probe_.forget(&flight);
  } else {
    scoreboard_.mark_all_lost();
  }
  recovery_.on_timeout(flight, stream_.nxt());
  window_.note_reduction(&flight, stream_.nxt(), now);
  timer_.back_off(context_.config);
  timer_.arm(&flight, now + timer_.rto());
}

}  // namespace outrider::tg
