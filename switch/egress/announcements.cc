#include "switch/egress/announcements.h"

namespace outrider::sw {

void announce(PortQueue& queue, const StartSignal& start, Time now) noexcept {
  const PartList& parts = queue.parts();
  if (!queue.regulation().listens()) return;
  if (parts.any(Step::kStart, [&](QueuePart& part) { return part.takes_start(start, now); }))
    return;
  if (queue.regulation().regulator().on_start(start, now) != ArmVerdict::kArmed) return;
  parts.each(Step::kStart, [&](QueuePart& part) { part.on_armed(start, now); });
}

void show_elsewhere(PortQueue& queue, Packet& packet, bool same_port, Time now) noexcept {
  const PartList& parts = queue.parts();
  if (!queue.regulation().exists()) return;
  if (parts.any(Step::kStart, [&](QueuePart& part) { return part.takes_elsewhere(packet, now); }))
    return;
  queue.regulation().on_packet(packet, now);
  parts.each(Step::kStart, [&](QueuePart& part) { part.on_elsewhere(packet, same_port, now); });
}

}  // namespace outrider::sw
