#pragma once

#include <cstring>

#include "common/dpdk/packet/packet.h"
#include "common/dpdk/packet/packet_slot.h"

namespace outrider {

/// Copies a packet with its bytes and meta data, from the same pool. Later changes of one (CE,
/// TTL) never show in the other, as they would if both shared a buffer.
/// @return nullptr if no buffer is left
[[nodiscard]] inline Packet* copy_of(const Packet& packet) noexcept {
  Packet* copy = rte_pktmbuf_copy(&packet, packet.pool, 0, UINT32_MAX);
  if (copy == nullptr) return nullptr;
  take_over(copy);
  meta(*copy) = meta(packet);
  if (meta(packet).has_slot) slot_of(*copy) = slot_of(packet);
  return copy;
}

}  // namespace outrider
