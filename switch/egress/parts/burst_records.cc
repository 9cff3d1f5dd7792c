#include "switch/egress/parts/burst_records.h"

#include <utility>

#include "switch/egress/port_transmitter.h"
#include "switch/forwarding/identify.h"

namespace outrider::sw {

/// Returns what leaves before an arriving packet. Where a scheduler chooses among queues, that is
/// not what waits in this one, but only the first packet of a burst asks for the whole truth.
QueueState BurstRecords::found_by(const Packet& packet, Time now) noexcept {
  const auto& fifo = queue_.fifo();
  const PacketMeta& m = meta(packet);
  QueueState found =
      transmitter_.order().has_several_queues() && tap_.begins(burst_of(packet))
          ? transmitter_.order().ahead_of(number_, m.frame_bytes,
                                          transmitter_.output().serializer(), now)
          : QueueState{fifo.occupancy_by_class(), fifo.occupancy_packets(), fifo.occupancy_bytes()};
  if (m.traffic_class == TrafficClass::kBackground) {
    const Occupancy kept = queue_.parts().kept();
    found.packets[TrafficClass::kBackground] += kept.packets;
    found.total_packets += kept.packets;
    found.bytes += kept.bytes;
  }
  return found;
}

ArrivalVerdict BurstRecords::on_arrival(const Incoming& incoming) noexcept {
  identify(incoming.packet);
  tap_.on_arrival(burst_of(incoming.packet), found_by(incoming.packet, incoming.now), incoming.now);
  return {};
}

void BurstRecords::on_waiting(Time now) noexcept {
  tap_.on_occupancy(queue_.fifo().occupancy_packets(), queue_.marking().background_threshold(now),
                    now);
}

void BurstRecords::on_departure(const Transmission& sent) noexcept {
  const auto& item = sent.item;
  tap_.on_departure({.identity = burst_of(*item.packet),
                     .traffic_class = item.traffic_class,
                     .frame_bytes = item.frame_bytes,
                     .sojourn = sent.start - item.enqueued_at,
                     .start = sent.start,
                     .finish = sent.finish,
                     .left_packets = queue_.fifo().occupancy_packets()});
}

void BurstRecords::report(QueueReport& to, Time now) const {
  tap_.fill(to);
  if (queue_.regulation().exists())
    to.regulated = std::as_const(queue_.regulation()).regulator().stretches(now);
}

}  // namespace outrider::sw
