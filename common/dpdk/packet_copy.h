#pragma once

#include <cstring>

#include "common/dpdk/packet.h"
#include "common/dpdk/packet_attribution.h"

namespace outrider {

/// A packet of its own with the same bytes and meta data, from the same pool: what
/// happens to one (CE, TTL) never shows in the other, which sharing the buffer would not
/// allow. @return nullptr if no buffer is left
[[nodiscard]] inline Packet* copy_of(const Packet& packet) noexcept {
  Packet* copy = rte_pktmbuf_copy(&packet, packet.pool, 0, UINT32_MAX);
  if (copy == nullptr) return nullptr;
  meta(*copy) = meta(packet);
  if (meta(packet).owner != 0 && can_attribute(*packet.pool))
    attribution_of(*copy) = attribution_of(packet);
  return copy;
}

}  // namespace outrider
