#pragma once

#include <cstddef>

#include "common/core/burst_ledger.h"
#include "common/dpdk/packet.h"

namespace outrider {

/// Holds what attribution knows of a packet. It follows the PacketMeta in the private area, in
/// pools with PacketPoolConfig::attribution. Meaningful only if PacketMeta::owner != 0.
struct alignas(64) PacketAttribution {
  BurstLedger ledger{};            ///< data: up to its last start of service or arrival at a queue
  ServiceClock::Reading queued{};  ///< reading of its queue's clock when the packet arrived
};

/// @pre can_attribute(its pool)
inline PacketAttribution& attribution_of(Packet& p) noexcept {
  auto* private_area = static_cast<std::byte*>(rte_mbuf_to_priv(&p));
  return *reinterpret_cast<PacketAttribution*>(private_area + sizeof(PacketMeta));
}

inline const PacketAttribution& attribution_of(const Packet& p) noexcept {
  return attribution_of(const_cast<Packet&>(p));
}

[[nodiscard]] inline bool can_attribute(rte_mempool& pool) noexcept {
  return rte_pktmbuf_priv_size(&pool) >= sizeof(PacketMeta) + sizeof(PacketAttribution);
}

}  // namespace outrider
