#include "switch/egress/queue_outcomes.h"

#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {

void QueueOutcomes::mark(Packet& packet, MarkReason reason) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.ip_offset == 0) return;  // ARP
  if (mark_ce(packet, m.ip_offset)) ++counters_.marks[m.traffic_class][reason];
  else counters_.marks_not_ect[m.traffic_class] += !is_ect(ecn_at(packet, m.ip_offset));
}

}  // namespace outrider::sw
