#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace outrider {

struct MempoolDeleter {
  void operator()(rte_mempool* pool) const noexcept { rte_mempool_free(pool); }
};
using Mempool = std::unique_ptr<rte_mempool, MempoolDeleter>;

struct PacketPoolConfig {
  std::string name;                       ///< unique within the process
  std::uint32_t mbufs = 8192;             ///< > 0
  std::uint32_t frame_room_bytes = 2048;  ///< longest part of a frame kept in the buffer
  int socket = -1;                        ///< NUMA node; -1: any
  std::uint32_t lcores = 1;               ///< lcores that take buffers and free them
  bool slots = false;                     ///< gives each buffer room for a PacketSlot
};

/// Room of buffers in the virtual runtime: headers only, payload is never written.
inline constexpr std::uint32_t kHeaderRoomBytes = 128;

/// Makes a pool whose mbufs have a PacketMeta and whose data are all zeros. Senders write only
/// headers, so the payload on the wire is zeros.
/// @throws DpdkError
Mempool make_packet_pool(const PacketPoolConfig& config);

/// Returns the NUMA node of a pool's buffers, if they are of huge pages and all at one node. On
/// ordinary pages the kernel chooses the node of each.
[[nodiscard]] std::optional<std::uint32_t> numa_node_of(rte_mempool& pool);

}  // namespace outrider
