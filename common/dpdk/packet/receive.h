#pragma once

#include <rte_prefetch.h>

#include "common/dpdk/packet/packet.h"

namespace outrider {

/// Prefetches what reading a received packet touches first: the mbuf, its meta data, and the
/// headers where a device puts them (behind the headroom).
inline void prefetch_received(Packet& packet) noexcept {
  auto* bytes = reinterpret_cast<std::uint8_t*>(&packet);
  rte_prefetch0(bytes);
  rte_prefetch0(bytes + sizeof(Packet));
  std::uint8_t* frame = bytes + sizeof(Packet) + sizeof(PacketMeta) + RTE_PKTMBUF_HEADROOM;
  rte_prefetch0(frame);
  rte_prefetch0(frame + RTE_CACHE_LINE_SIZE);
}

/// Prepares a packet that a device delivered: makes it one segment with fresh meta data.
/// @return false if that is impossible; the caller still owns the packet and drops it as
///         malformed
[[nodiscard]] inline bool prepare_received(Packet& packet) noexcept {
  if (packet.nb_segs != 1 && rte_pktmbuf_linearize(&packet) != 0) [[unlikely]]
    return false;
  meta(packet) = PacketMeta{};
  meta(packet).frame_bytes = rte_pktmbuf_pkt_len(&packet);
  return true;
}

}  // namespace outrider
