#include "trafficgen/transport/sender.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace outrider {
namespace {

/// Room for a whole window of full segments, and for some short ones.
std::uint32_t slots_for(const TcpConfig& config) noexcept {
  assert(config.control.mss_bytes > 0);
  assert(config.receive_buffer_bytes > 0 && config.receive_buffer_bytes <= kMaxWindowBytes);
  return std::bit_ceil(config.receive_buffer_bytes / config.control.mss_bytes + 64);
}

}  // namespace

TcpSender::TcpSender(const TcpConfig& config, std::uint32_t initial_sequence, TcpCounters& counters)
    : config_(config),
      counters_(counters),
      control_(config.control),
      space_(initial_sequence),
      cwnd_(control_->cwnd_bytes()),
      mss_(config.control.mss_bytes),
      rto_(config.initial_rto, config.min_rto, config.max_rto),
      scoreboard_(slots_for(config)) {}

void TcpSender::start(const Peer& peer) noexcept {
  assert(peer.window_scale <= 14);
  if (peer.mss_bytes != 0) mss_ = std::min(mss_, peer.mss_bytes);
  peer_window_scale_ = peer.window_scale;
  peer_edge_ = peer.window_bytes;
  ecn_ = peer.ecn;
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

bool TcpSender::can_send_new() const noexcept {
  if (scoreboard_.full()) return false;
  const std::uint32_t payload = new_payload();
  if (payload == 0 && !(closing_ && nxt_ == written_)) return false;
  return scoreboard_.pipe_bytes() + payload <= cwnd_;
}

bool TcpSender::can_send() const noexcept {
  if (scoreboard_.lost_pending() == 0) [[likely]]
    return can_send_new();
  return resend_first_ || scoreboard_.pipe_bytes() + mss_ <= cwnd_;
}

void TcpSender::fill(TcpSegment& s, Time now) noexcept {
  assert(can_send());
  if (scoreboard_.lost_pending() == 0) [[likely]]
    fill_new(s, now);
  else fill_resent(s, now);
  last_sent_ = now;
  if (rto_deadline_ == kNever) rto_deadline_ = now + rto_.rto();  // RFC 6298, 5.1
}

void TcpSender::note_window_use() noexcept {
  if (scoreboard_.pipe_bytes() + mss_ > cwnd_) window_full_until_ = nxt_;
}

void TcpSender::fill_resent(TcpSegment& s, Time now) noexcept {
  const SentSegment& lost = scoreboard_.resend(now);
  const std::uint64_t end = lost.offset + lost.length;
  const bool fin = end > written_;
  s.sequence = space_.wire(lost.offset);
  s.payload_bytes = static_cast<std::uint16_t>(lost.length - (fin ? 1 : 0));
  if (fin) s.flags |= kTcpFin;
  if (end >= written_) s.flags |= kTcpPsh;
  // RFC 3168, 6.1.5 forbids ECT here; a sender that tells marks apart may use it.
  const bool ect = ecn_ && s.payload_bytes != 0 && control_->wants_accurate_ecn_echo();
  s.ecn = ect ? Ecn::kEct0 : Ecn::kNotEct;
  if (lost.offset == una_) rto_deadline_ = now + rto_.rto();
  resend_first_ = false;
  ++counters_.retransmitted;
  note_window_use();
}

void TcpSender::fill_new(TcpSegment& s, Time now) noexcept {
  if (scoreboard_.empty() && config_.reuse == ConnectionReuse::kIdleRestart && nxt_ != 0 &&
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
    if (watched_ && !watched_sent_at_ && *watched_ >= nxt_ && *watched_ < end) {
      watched_sent_at_ = now;
    }
  }
  scoreboard_.push(nxt_, payload + (fin ? 1 : 0), now);
  nxt_ = end + (fin ? 1 : 0);
  note_window_use();
}

bool TcpSender::on_timer(Time now) noexcept {
  if (now < rto_deadline_) return true;
  if (scoreboard_.empty()) {
    rto_deadline_ = kNever;
    return true;
  }
  if (++timeouts_ > kMaxTimeouts) return false;
  ++counters_.rtos_data;
  control_->on_timeout(flight_bytes(), now);
  cwnd_ = control_->cwnd_bytes();
  scoreboard_.mark_all_lost();
  phase_ = Phase::kAfterTimeout;
  recovery_point_ = nxt_;  // RFC 6675, 5.1
  note_reduction();
  resend_first_ = true;
  rto_.back_off();
  rto_deadline_ = now + rto_.rto();
  return true;
}

}  // namespace outrider
