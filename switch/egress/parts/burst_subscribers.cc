#include "switch/egress/parts/burst_subscribers.h"

#include "switch/egress/announcements.h"

namespace outrider::sw {

void BurstSubscribers::on_start(const PortQueue& own, const StartSignal& start, Time now) noexcept {
  for (const auto& each : queues_)
    if (each.queue != &own) announce(*each.queue, start, now);
}

ArrivalVerdict BurstSubscribers::on_arrival(const Incoming& incoming) noexcept {
  locate(incoming.packet);
  const PacketMeta& m = meta(incoming.packet);
  if (m.traffic_class != TrafficClass::kDdl || m.payload_bytes == 0) return {};
  for (const auto& each : queues_)
    if (each.queue != &incoming.queue)
      show_elsewhere(*each.queue, incoming.packet, each.same_port, incoming.now);
  return {};
}

}  // namespace outrider::sw
