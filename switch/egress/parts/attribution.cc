#include "switch/egress/parts/attribution.h"

#include "common/dpdk/packet/packet_slot.h"
#include "switch/egress/port_queue.h"

namespace outrider::sw {
namespace {

/// Returns what a packet carries; nullptr: it is of no owner or no burst.
PacketSlot* ledger_of(Packet& packet) noexcept {
  if (owner_of(packet) == 0 || meta(packet).payload_bytes == 0) return nullptr;
  PacketSlot& slot = slot_of(packet);
  return slot.ledger.valid() ? &slot : nullptr;
}

}  // namespace

ArrivalVerdict Attribution::on_arrival(const Incoming& incoming) noexcept {
  if (incoming.queue.regulation().exists()) locate(incoming.packet);
  if (PacketSlot* slot = ledger_of(incoming.packet)) {
    slot->ledger.advance(incoming.now, BurstTime::kSerialisation);  // includes propagation
    slot->queued = service_.read(slot->owner, incoming.now);
  }
  return {};
}

void Attribution::on_departure(const Transmission& sent) noexcept {
  Packet& packet = *sent.item.packet;
  const std::uint32_t owner = owner_of(packet);
  if (PacketSlot* slot = ledger_of(packet))
    slot->ledger.wait(sent.start, slot->queued, service_.read(owner, sent.start));
  service_.on_service(sent.item.traffic_class, owner, sent.start, sent.finish);
}

}  // namespace outrider::sw
