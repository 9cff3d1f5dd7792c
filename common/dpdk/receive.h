#pragma once

#include "common/dpdk/packet.h"

namespace outrider {

/// Makes what a device delivered into a packet of ours: one segment, fresh meta
/// data. @return false if it cannot be; the caller still owns the packet and
/// drops it as malformed
[[nodiscard]] inline bool prepare_received(Packet& packet) noexcept {
  if (packet.nb_segs != 1 && rte_pktmbuf_linearize(&packet) != 0) [[unlikely]]
    return false;
  meta(packet) = PacketMeta{};
  meta(packet).frame_bytes = rte_pktmbuf_pkt_len(&packet);
  return true;
}

}  // namespace outrider
