#include "trafficgen/hosts/stray_replies.h"

namespace outrider::tg {

void StrayReplies::reset(const ReceivedFrame& frame) noexcept {
  if (replies_.size() == kMaxReplies) return;
  const TcpSegment& s = frame.segment;
  TcpSegment rst;
  rst.flags = kTcpRst;
  if (s.has(kTcpAck)) {
    rst.sequence = s.acknowledgment;
  } else {
    rst.flags |= kTcpAck;
    rst.acknowledgment =
        s.sequence + s.payload_bytes + (s.has(kTcpSyn) ? 1U : 0U) + (s.has(kTcpFin) ? 1U : 0U);
  }
  replies_.push({frame.flow.reversed(), rst});
  ++counters_.resets_sent;
}

void StrayReplies::abort(const FlowKey& flow, std::uint32_t sequence) noexcept {
  if (replies_.size() == kMaxReplies) return;
  TcpSegment rst;
  rst.flags = kTcpRst;
  rst.sequence = sequence;
  replies_.push({flow, rst});
  ++counters_.resets_sent;
}

bool StrayReplies::take_late(const ReceivedFrame& frame, Time now) noexcept {
  const FlowKey flow = frame.flow.reversed();
  const TimeWait* old = time_waits_.find(flow, now);
  if (old == nullptr) return false;
  switch (old->judge(frame.segment)) {
    case TimeWait::Verdict::kReuse:
      time_waits_.erase(flow);
      ++events_.time_wait_reuses;
      return false;
    case TimeWait::Verdict::kForget:
      time_waits_.erase(flow);
      break;
    case TimeWait::Verdict::kAcknowledge:
      if (replies_.size() < kMaxReplies) {
        replies_.push({flow, old->acknowledgment(now)});
        ++events_.time_wait_answers;
      }
      if (frame.segment.has(kTcpFin)) time_waits_.restart(flow, now);
      break;
    case TimeWait::Verdict::kIgnore:
      break;
  }
  ++counters_.to_connections;
  return true;
}

}  // namespace outrider::tg
