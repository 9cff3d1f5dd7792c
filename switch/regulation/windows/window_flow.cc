#include "switch/regulation/windows/window_flow.h"

namespace outrider {

/// Only the segments of an open connection say what it does.
bool WindowFlow::may_begin_anew(Time now) const noexcept {
  const bool open = handshake == Handshake::kBothSyns || handshake == Handshake::kDone ||
                    handshake == Handshake::kBarred;
  return !open || closing || now - active_at > kSilence;
}

/// The SYN may come in the data direction or in the other one, because either end may open
/// the connection.
void WindowFlow::take_syn(TcpView s, bool data_direction, Time now) noexcept {
  if (s.ack) return take_syn_ack(s, data_direction, now);
  if (!may_begin_anew(now)) return;
  *this = WindowFlow(key);
  handshake = s.authenticated ? Handshake::kBarred : Handshake::kSyn;
  answered_first = !data_direction;
  (data_direction ? data_scale_ : answer_scale_) = s.window_scale;
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
  data_direction ? take_up(now - syn_at_, now) : take_down(now - syn_at_, now);
  (data_direction ? data_scale_ : answer_scale_) = s.window_scale;
  if (data_direction) {
    end = acknowledged = s.sequence + 1;
    true_edge_ = end + kUnscaledWindow;
  } else {
    has_edge = true;
    edge = true_edge_ = s.acknowledgment + s.window;
  }
  if (data_scale_ >= 0 && answer_scale_ >= 0) scale_ = static_cast<std::uint8_t>(answer_scale_);
  syn_at_ = active_at = now;
}

/// Handles FIN or RST in the data direction. A receiver takes a reset only at the number that it
/// expects (RFC 5961, 3.2), which lies between what it has acknowledged here and what has passed.
/// Data beyond a FIN show that the FIN was somebody else's.
void WindowFlow::take_end(std::uint32_t sequence) noexcept {
  closing |= handshake == Handshake::kNone || (sequence_distance(sequence, acknowledged) >= 0 &&
                                               sequence_distance(sequence, end) <= 0);
}

}  // namespace outrider
