#pragma once

#include <cstddef>
#include <cstdint>

#include "common/core/burst_ledger.h"
#include "common/dpdk/packet/packet.h"

namespace outrider {

/// Holds what few packets carry. It follows the PacketMeta in the private area, in pools with
/// PacketPoolConfig::slots, and is meaningful only if PacketMeta::has_slot says so: who sets that
/// begins with an empty slot. What a new feature carries gets a member here, whose first value
/// means that there is none.
struct alignas(64) PacketSlot {
  BurstLedger ledger{};            ///< data: up to its last start of service or arrival at a queue
  ServiceClock::Reading queued{};  ///< reading of its queue's clock when the packet arrived
  std::uint32_t owner = 0;         ///< job and worker that its time is attributed to; 0: none
};

[[nodiscard]] inline bool has_slots(rte_mempool& pool) noexcept {
  return rte_pktmbuf_priv_size(&pool) >= sizeof(PacketMeta) + sizeof(PacketSlot);
}

/// @pre has_slots(its pool)
inline PacketSlot& slot_of(Packet& p) noexcept {
  assert(has_slots(*p.pool));
  auto* private_area = static_cast<std::byte*>(rte_mbuf_to_priv(&p));
  return *reinterpret_cast<PacketSlot*>(private_area + sizeof(PacketMeta));
}
inline const PacketSlot& slot_of(const Packet& p) noexcept {
  return slot_of(const_cast<Packet&>(p));
}

/// Gives a packet an empty slot. @pre has_slots(its pool)
inline PacketSlot& give_slot(Packet& p) noexcept {
  meta(p).has_slot = true;
  return slot_of(p) = PacketSlot{};
}

/// Returns job and worker that a packet's time is attributed to; 0: none, or off.
[[nodiscard]] inline std::uint32_t owner_of(const Packet& p) noexcept {
  return meta(p).has_slot ? slot_of(p).owner : 0;
}

}  // namespace outrider
