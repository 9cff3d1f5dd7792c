// What belongs to no connection of a host: new ones, old ones, strangers.
#include <algorithm>

#include "trafficgen/hosts/host.h"

namespace outrider::tg {

void Host::take_unknown(const ReceivedFrame& frame, Time now) noexcept {
  const TcpSegment& s = frame.segment;
  if (!time_waits_.empty() && take_late(frame, now)) return;
  if (s.has(kTcpSyn) && !s.has(kTcpAck)) {
    const auto it = std::ranges::find(listeners_, frame.flow.destination_port,
                                      &std::pair<std::uint16_t, Acceptor*>::first);
    const Acceptor::Offer offer =
        it == listeners_.end() ? Acceptor::Offer{} : it->second->accept(frame.flow);
    if (offer.listener != nullptr && !connections_.full()) {
      const std::uint32_t slot =
          add_connection(frame.flow.reversed(), *offer.config, offer.option_bytes,
                         TcpConnection::Role::kServer, *offer.listener, offer.owner);
      ++counters_.to_connections;
      connections_[slot].nic_class = offer.nic_class;
      TcpConnection& connection = connections_[slot];
      it->second->on_accepted(connection);
      connection.on_segment(s, now);
      return refresh(slot, now);
    }
  }
  ++counters_.drops[DropReason::kNoConnection];
  if (!s.has(kTcpRst)) reset(frame);
}

/// RFC 9293, section 3.5.2: what belongs to no connection is answered with RST.
void Host::reset(const ReceivedFrame& frame) noexcept {
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

/// A segment of a connection in TIME-WAIT.
/// @return false if there is none, or the segment begins another
bool Host::take_late(const ReceivedFrame& frame, Time now) noexcept {
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
