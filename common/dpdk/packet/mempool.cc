#include "common/dpdk/packet/mempool.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memory.h>

#include <cstring>
#include <new>

#include "common/dpdk/eal/error.h"
#include "common/dpdk/packet/packet_slot.h"

namespace outrider {
namespace {

static_assert(sizeof(rte_mbuf) % alignof(PacketMeta) == 0, "the private area follows the mbuf");
static_assert(sizeof(PacketMeta) % RTE_MBUF_PRIV_ALIGN == 0);
static_assert(sizeof(PacketSlot) % RTE_MBUF_PRIV_ALIGN == 0);

constexpr std::uint32_t kCache =
    256;  ///< kept per lcore: one access to the shared pool per 256 buffers

/// Returns the handler that hands out the buffer freed last, unless the user or the platform
/// wants another one. The default handler, a ring, hands out the buffer that has been free for
/// longest. A poll of many ports takes more buffers than the lcore's cache holds, and would
/// then write to memory that fell out of all CPU caches while the pool went round.
///
/// Several lcores share a stack without a lock. The kernel may stop an lcore at any instruction,
/// and one that held a lock would make all others wait until it runs again. One lcore has nobody
/// to wait for but the control threads of drivers, which free buffers seldom, and the stack with
/// a lock is quicker.
const char* handler_of_free_buffers(std::uint32_t lcores) noexcept {
  const char* best = rte_mbuf_best_mempool_ops();
  if (std::strcmp(best, RTE_MBUF_DEFAULT_MEMPOOL_OPS) != 0) return best;
  return lcores > 1 ? "lf_stack" : "stack";
}

void init_packet(rte_mempool*, void*, void* object, unsigned) {
  auto* packet = static_cast<rte_mbuf*>(object);
  new (rte_mbuf_to_priv(packet)) PacketMeta{};
  std::memset(packet->buf_addr, 0, packet->buf_len);
}

/// Makes a pool like rte_pktmbuf_pool_create(), but with a flag. Without it, on ordinary pages
/// no object may cross a page. Each would have a page of its own, and the headers of all packets
/// would share one set of the L1 cache, so that a batch evicts itself. No device reads such
/// memory by physical address, so objects may be packed.
Mempool create_pool(const PacketPoolConfig& config, std::uint32_t cache, std::uint16_t room_bytes) {
  const auto private_bytes =
      static_cast<std::uint16_t>(sizeof(PacketMeta) + (config.slots ? sizeof(PacketSlot) : 0));
  const auto object_bytes = static_cast<unsigned>(sizeof(rte_mbuf) + private_bytes + room_bytes);
  const unsigned flags = rte_eal_has_hugepages() != 0 ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
  Mempool pool(rte_mempool_create_empty(config.name.c_str(), config.mbufs, object_bytes, cache,
                                        sizeof(rte_pktmbuf_pool_private), config.socket, flags));
  if (pool == nullptr) throw DpdkError("rte_mempool_create_empty", config.name, rte_errno);
  const char* handler = handler_of_free_buffers(config.lcores);
  if (const int e = rte_mempool_set_ops_byname(pool.get(), handler, nullptr))
    throw DpdkError("rte_mempool_set_ops_byname", config.name + " (" + handler + ")", e);
  rte_pktmbuf_pool_private settings{};
  settings.mbuf_data_room_size = room_bytes;
  settings.mbuf_priv_size = private_bytes;
  rte_pktmbuf_pool_init(pool.get(), &settings);
  if (const int e = rte_mempool_populate_default(pool.get()); e < 0)
    throw DpdkError("rte_mempool_populate_default", config.name, e);
  rte_mempool_obj_iter(pool.get(), rte_pktmbuf_init, nullptr);
  return pool;
}

}  // namespace

Mempool make_packet_pool(const PacketPoolConfig& config) {
  // rte_pktmbuf_alloc() always starts the data behind the headroom, so the headroom is added
  // to the room.
  const std::uint32_t room_bytes = RTE_PKTMBUF_HEADROOM + config.frame_room_bytes;
  if (room_bytes > UINT16_MAX) throw DpdkError("make_packet_pool", config.name, EINVAL);
  // DPDK requires n >= 1.5 x cache. Without a cache each packet costs an access to the stack.
  const std::uint32_t cache = config.mbufs >= 2 * kCache ? kCache : 0;
  Mempool pool = create_pool(config, cache, static_cast<std::uint16_t>(room_bytes));
  rte_mempool_obj_iter(pool.get(), init_packet, nullptr);
  if (config.slots)
    rte_mempool_obj_iter(
        pool.get(),
        [](rte_mempool*, void*, void* object, unsigned) {
          new (&slot_of(*static_cast<rte_mbuf*>(object))) PacketSlot{};
        },
        nullptr);
  return pool;
}

std::optional<std::uint32_t> numa_node_of(rte_mempool& pool) {
  if (rte_eal_has_hugepages() == 0) return {};
  struct Nodes {
    int first = -1;
    bool several = false;
  } nodes;
  rte_mempool_mem_iter(
      &pool,
      [](rte_mempool*, void* seen, rte_mempool_memhdr* part, unsigned) {
        auto& all = *static_cast<Nodes*>(seen);
        const rte_memseg_list* list = rte_mem_virt2memseg_list(part->addr);
        const int node = list == nullptr ? -1 : list->socket_id;
        if (all.first == -1) all.first = node;
        all.several = all.several || node != all.first;
      },
      &nodes);
  if (nodes.first < 0 || nodes.several) return {};
  return static_cast<std::uint32_t>(nodes.first);
}

}  // namespace outrider
