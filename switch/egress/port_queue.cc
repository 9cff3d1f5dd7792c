#include "switch/egress/port_queue.h"

#include <cassert>
#include <optional>

#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {

namespace {

/// Returns why a packet has no room in a queue; nothing: it has.
std::optional<DropReason> refusal(const PortQueue& queue, const Packet& packet) noexcept {
  // A queue that discards what comes is empty and has room for a frame, so its part refuses.
  const Occupancy also = queue.parts().kept();
  auto refused = queue.fifo().refuses(meta(packet).frame_bytes, also.packets, also.bytes);
  if (refused) return refused;
  queue.parts().any(Step::kRoom, [&](const QueuePart& part) {
    refused = part.refuses(packet);
    return refused.has_value();
  });
  return refused;
}

}  // namespace

PortQueue::PortQueue(const PortQueueConfig& config, const RegulationPolicy& policy,
                     const MarkerSetup& setup, std::size_t stretches)
    : fifo_({config.queue.limit_packets, config.queue.limit_bytes}),
      regulation_(policy, stretches),
      marking_(config.marker, setup, regulation_) {}

bool PortQueue::enqueue(Packet* packet, Time now) noexcept {
  if (!admit<false>(packet, now)) return false;
  parts_.each(Step::kEnter, [&](QueuePart& part) { part.on_entry(*packet, now); });
  if (parts_.keeper() != nullptr && parts_.keeper()->keep(packet, now)) [[unlikely]]
    return true;
  const PacketMeta& m = meta(*packet);
  assert(fifo_.admits(m.frame_bytes));
  fifo_.put(packet, now, m.frame_bytes, m.traffic_class);
  return true;
}

bool PortQueue::show_arrival(Packet* packet, bool is_signal, Time now) noexcept {
  const Incoming incoming{*this, *packet, is_signal, now};
  return !parts_.any(Step::kArrive, [&](QueuePart& part) {
    const auto verdict = part.on_arrival(incoming);
    if (verdict.lost) outcomes_.drop(packet, *verdict.lost);
    else if (verdict.marked) outcomes_.mark(*packet, *verdict.marked);
    return verdict.lost.has_value();
  });
}

void PortQueue::show_departure(Item item, Time start, Time finish) noexcept {
  const Transmission sent{*this, item, start, finish};
  parts_.each(Step::kDepart, [&](QueuePart& part) { part.on_departure(sent); });
}

bool PortQueue::find_room(Packet* packet, Time now) noexcept {
  auto refused = refusal(*this, *packet);
  while (refused && parts_.keeper() != nullptr) {
    const Item given_up = parts_.keeper()->give_up(meta(*packet));
    if (given_up.packet == nullptr) break;
    parts_.exit(given_up, now);
    outcomes_.drop(given_up.packet, *refused);
    refused = refusal(*this, *packet);
  }
  if (refused) outcomes_.drop(packet, *refused);
  return !refused;
}

/// A packet that regulation spares does not make the regulator do what is due.
bool PortQueue::leave(Item item, Time now) noexcept {
  const Occupancy left{fifo_.occupancy_packets(), fifo_.occupancy_bytes()};
  const bool spared = parts_.any(Step::kMark, [&](QueuePart& part) {
    return part.spares(meta(*item.packet), MarkReason::kRegulatedThreshold);
  });
  const auto judgement = marking_.dequeued(item.traffic_class, now - item.enqueued_at, left,
                                           met_by(item.traffic_class), spared, now);
  return judgement == Judgement::kPass || act_on(judgement, item.packet);
}

/// Acts on what marker and regulation say. Regulation alone never drops a packet: Not-ECT packets
/// pass it.
bool PortQueue::act_on(Judgement judgement, Packet* packet) noexcept {
  const PacketMeta& m = meta(*packet);
  if (m.ip_offset == 0) return true;  // ARP
  if (judgement == Judgement::kDrop) {
    outcomes_.drop(packet, DropReason::kAqmOverload);
    return false;
  }
  const bool low = judgement == Judgement::kMarkLow;
  if (!low && marking_.drops_not_ect() && !is_ect(ecn_at(*packet, m.ip_offset))) {
    outcomes_.drop(packet, DropReason::kAqmNotEct);
    return false;
  }
  const MarkReason reason = low ? MarkReason::kRegulatedThreshold : MarkReason::kMarker;
  if (!parts_.any(Step::kMark, [&](QueuePart& part) { return part.spares(m, reason); }))
    outcomes_.mark(*packet, reason);
  return true;
}

}  // namespace outrider::sw
