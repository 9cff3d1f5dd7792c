#include "common/regulation/window_flow.h"

#include "common/core/sequence.h"

namespace outrider {

std::uint32_t WindowFlow::passed_unacknowledged() const noexcept {
  const std::int32_t bytes = sequence_distance(end, acknowledged);
  return bytes > 0 ? static_cast<std::uint32_t>(bytes) : 0;
}

bool WindowFlow::at_edge() const noexcept {
  return has_edge && sequence_distance(edge, end) < static_cast<std::int32_t>(segment_bytes);
}

/// Only the segments of an open connection say what it does.
bool WindowFlow::may_begin_anew(Time now) const noexcept {
  const bool open = handshake == Handshake::kBothSyns || handshake == Handshake::kDone ||
                    handshake == Handshake::kBarred;
  return !open || closing || now - active_at > kSilence;
}

/// The SYN may come in the data direction or in the other one, because either end may open
/// the connection.
void WindowFlow::take_syn(const TcpView& s, bool data_direction, Time now) noexcept {
  if (s.ack) return take_syn_ack(s, data_direction, now);
  if (!may_begin_anew(now)) return;
  *this = WindowFlow(key);
  handshake = s.authenticated ? Handshake::kBarred : Handshake::kSyn;
  answered_first = !data_direction;
  (data_direction ? data_scale : answer_scale) = s.window_scale;
  syn_next_ = s.sequence + 1;
  if (data_direction) end = acknowledged = s.sequence + 1;
  syn_at_ = active_at = now;
}

/// One that is sent again, or that somebody else sends, changes nothing: the scale and the
/// right edge of an open connection stand.
void WindowFlow::take_syn_ack(const TcpView& s, bool data_direction, Time now) noexcept {
  if (handshake != Handshake::kSyn || answered_first != data_direction ||
      s.acknowledgment != syn_next_)
    return;
  handshake = s.authenticated ? Handshake::kBarred : Handshake::kBothSyns;
  (data_direction ? up : down) = now - syn_at_;
  (data_direction ? data_scale : answer_scale) = s.window_scale;
  if (data_direction) {
    end = acknowledged = s.sequence + 1;
    true_edge_ = end + kUnscaledWindow;
  } else {
    has_edge = true;
    edge = true_edge_ = s.acknowledgment + s.window;
  }
  syn_at_ = active_at = now;
}

/// Between what the receiver has acknowledged and what it has offered. Without a handshake
/// nobody knows the window's scale, and the flow is left alone anyway.
bool WindowFlow::within_offer(const TcpView& s) const noexcept {
  if (handshake == Handshake::kNone || handshake == Handshake::kBarred) return true;
  return handshake != Handshake::kSyn &&
         sequence_distance(s.sequence + s.payload_bytes, acknowledged) >= 0 &&
         sequence_distance(s.sequence + s.payload_bytes, true_edge_) <= 0;
}

/// A receiver takes a reset only at the number that it expects (RFC 5961, 3.2), which lies
/// between what it has acknowledged here and what has passed. Data beyond a FIN show that
/// the FIN was somebody else's.
void WindowFlow::take_end(const TcpView& s) noexcept {
  const bool expected =
      handshake == Handshake::kNone ||
      (sequence_distance(s.sequence, acknowledged) >= 0 && sequence_distance(s.sequence, end) <= 0);
  closing |= (s.fin || s.rst) && expected;
}

bool WindowFlow::on_data(const TcpView& s, Time now, Time departs) noexcept {
  if (s.syn) {
    take_syn(s, true, now);
    return true;
  }
  if (!within_offer(s)) return false;
  if (handshake == Handshake::kBothSyns && !answered_first) {
    up = now - syn_at_;
    handshake = Handshake::kDone;
  }
  active_at = now;
  if (s.payload_bytes != 0) take_payload(s, now, departs);
  take_end(s);
  return true;
}

void WindowFlow::take_payload(const TcpView& s, Time now, Time departs) noexcept {
  if (s.payload_bytes > segment_bytes) {
    segment_bytes = s.payload_bytes;
    segment_frame_bytes = s.frame_bytes;
  }
  const std::uint32_t segment_end = s.sequence + s.payload_bytes;
  if (handshake == Handshake::kNone && sent_bytes == 0) end = acknowledged = s.sequence;
  if (sequence_distance(segment_end, end) <= 0) {  // a retransmission
    if (sequence_distance(segment_end, acknowledged) <= 0) return;
    in_recovery = true;
    recovery_end = end;
    timed_ = false;  // Karn's rule
    return;
  }
  closing = false;
  sent_bytes += static_cast<std::uint32_t>(sequence_distance(segment_end, end));
  end = segment_end;
  if (!timed_) {
    timed_ = true;
    timed_end_ = segment_end;
    departs_ = departs;
  }
  sample_flight(now);
}

/// @pre `end` is the end of the segment that arrives now
void WindowFlow::sample_flight(Time now) noexcept {
  if (!up) return;
  std::uint8_t arrived = 0;
  while (arrived < marks_used_ && marks_[arrived].at + *up <= now) ++arrived;
  if (arrived > 0) {
    known_acknowledged_ = marks_[arrived - 1U].acknowledged;
    has_known_ = true;
    std::copy(marks_.begin() + arrived, marks_.begin() + marks_used_, marks_.begin());
    marks_used_ = static_cast<std::uint8_t>(marks_used_ - arrived);
  }
  if (!has_known_) return;
  const std::int32_t flight = sequence_distance(end, known_acknowledged_);
  if (flight > 0) largest_now = std::max(largest_now, static_cast<std::uint32_t>(flight));
}

/// Keeps the latest answer; those before it are a third of `up` apart.
void WindowFlow::note_answer(Time now) noexcept {
  const bool crowded =
      marks_used_ >= 2 && up && marks_[marks_used_ - 1U].at - marks_[marks_used_ - 2U].at < *up / 3;
  if (marks_used_ == kMarks || crowded) --marks_used_;
  marks_[marks_used_++] = {now, acknowledged};
}

void WindowFlow::leave_alone(const TcpView& s) noexcept {
  const std::uint32_t told = s.acknowledgment + (std::uint32_t{s.window} << scale());
  edge = has_edge ? later_sequence(edge, told) : told;
  has_edge = true;
  told_window = s.window;
}

bool WindowFlow::on_answer(const TcpView& s, Time now) noexcept {
  if (s.syn) {
    take_syn(s, false, now);
    return true;
  }
  if (!s.ack) return true;
  const std::int32_t advance = sequence_distance(s.acknowledgment, acknowledged);
  const bool of_what_passed = advance >= 0 && sequence_distance(s.acknowledgment, end) <= 0;
  if (!of_what_passed && handshake != Handshake::kNone) return false;
  if (handshake == Handshake::kBothSyns && answered_first) {
    down = now - syn_at_;
    handshake = Handshake::kDone;
  }
  active_at = now;
  window_moved = s.window != true_window;
  true_window = s.window;
  true_edge_ = later_sequence(s.acknowledgment + (std::uint32_t{s.window} << scale()), true_edge_);
  duplicate = advance == 0 && s.payload_bytes == 0 && passed_unacknowledged() > 0;
  if (!of_what_passed) return true;
  if (advance > 0) acknowledged = s.acknowledgment;
  if (timed_ && sequence_distance(acknowledged, timed_end_) >= 0) {
    timed_ = false;
    const Duration sample = now - departs_;
    if (sample > Duration::zero()) down = down ? std::min(*down, sample) : sample;
  }
  if (in_recovery && sequence_distance(acknowledged, recovery_end) >= 0) in_recovery = false;
  if (s.sack_blocks && passed_unacknowledged() > 0) {
    if (!in_recovery) recovery_end = end;
    in_recovery = true;
    timed_ = false;
  }
  if (advance > 0) note_answer(now);
  return true;
}

void WindowFlow::roll(Time now, Duration epoch) noexcept {
  if (now - epoch_began_ < epoch) return;
  epoch_began_ = now;
  largest_before = largest_now;
  largest_now = 0;
  limited = false;
}

}  // namespace outrider
