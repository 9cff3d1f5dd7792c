#include "switch/egress/parts/attribution.h"

#include "common/dpdk/packet_attribution.h"
#include "switch/egress/port_queue.h"

namespace outrider::sw {
namespace {

/// Returns what a packet carries; nullptr: it is of no owner or no burst.
PacketAttribution* ledger_of(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.owner == 0 || m.payload_bytes == 0) return nullptr;
  PacketAttribution& a = attribution_of(packet);
  return a.ledger.valid() ? &a : nullptr;
}

}  // namespace

ArrivalVerdict Attribution::on_arrival(const Incoming& incoming) noexcept {
  if (incoming.queue.regulation().exists()) locate(incoming.packet);
  if (PacketAttribution* a = ledger_of(incoming.packet)) {
    a->ledger.advance(incoming.now, BurstTime::kSerialisation);  // includes propagation
    a->queued = service_.read(meta(incoming.packet).owner, incoming.now);
  }
  return ArrivalVerdict::kPass;
}

void Attribution::on_departure(const Transmission& sent) noexcept {
  Packet& packet = *sent.item.packet;
  const std::uint32_t owner = meta(packet).owner;
  if (PacketAttribution* a = ledger_of(packet))
    a->ledger.wait(sent.start, a->queued, service_.read(owner, sent.start));
  service_.on_service(sent.item.traffic_class, owner, sent.start, sent.finish);
}

}  // namespace outrider::sw
