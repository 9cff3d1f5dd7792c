#include "switch/egress/parts/departure_observers.h"

#include "switch/egress/port_queue.h"

namespace outrider::sw {

void HopRecords::on_departure(const Transmission& sent) noexcept {
  Packet& packet = *sent.item.packet;
  if (!recorder_.wants(meta(packet))) return;
  const Occupancy left = sent.queue.waiting();
  const auto outcome = recorder_.record(packet, number_, sent.start - sent.item.enqueued_at,
                                        left.packets, left.bytes);
  written_ += outcome == hop_trace::Appended::kYes;
  no_room_ += outcome == hop_trace::Appended::kNoRoom;
}

void HopRecords::count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const {
  to.hop_records += written_;
  to.hop_records_no_room += no_room_;
}

void CapturedDepartures::on_departure(const Transmission& sent) noexcept {
  PortQueue& queue = sent.queue;
  const Occupancy left = queue.waiting();
  const auto bytes = buffer(*sent.item.packet);
  to_.note({.at = sent.start,
            .sojourn = sent.start - sent.item.enqueued_at,
            .resident_bytes = left.bytes,
            .resident_packets = left.packets,
            .held_packets = queue.parts().kept().packets,
            .background_threshold_packets = queue.marking().background_threshold(sent.start),
            .entries = queue.regulation().live_entries(),
            .frame_bytes = sent.item.frame_bytes,
            .queue = number_,
            .traffic_class = sent.item.traffic_class},
           bytes.data(), bytes.size());
}

}  // namespace outrider::sw
