#include "common/dpdk/mempool.h"

#include <rte_errno.h>
#include <rte_mbuf.h>

#include <cstring>
#include <new>

#include "common/dpdk/error.h"
#include "common/dpdk/packet_attribution.h"

namespace outrider {
namespace {

static_assert(sizeof(rte_mbuf) % alignof(PacketMeta) == 0, "the private area follows the mbuf");
static_assert(sizeof(PacketMeta) % RTE_MBUF_PRIV_ALIGN == 0);
static_assert(sizeof(PacketAttribution) % RTE_MBUF_PRIV_ALIGN == 0);

constexpr std::uint32_t kCache = 256;  ///< buffers kept at the lcore: one ring access per 256

void init_packet(rte_mempool*, void*, void* object, unsigned) {
  auto* packet = static_cast<rte_mbuf*>(object);
  new (rte_mbuf_to_priv(packet)) PacketMeta{};
  std::memset(packet->buf_addr, 0, packet->buf_len);
}

}  // namespace

Mempool make_packet_pool(const PacketPoolConfig& config) {
  // rte_pktmbuf_alloc() starts the data behind the headroom whatever the pool,
  // so the headroom comes on top of the room.
  const std::uint32_t room_bytes = RTE_PKTMBUF_HEADROOM + config.frame_room_bytes;
  if (room_bytes > UINT16_MAX) throw DpdkError("make_packet_pool", config.name, EINVAL);
  // DPDK wants n >= 1.5 x cache. The ring below stays multi-producer: drivers'
  // control threads have no cache and may free too, and at one access per 256
  // packets an atomic costs nothing.
  const std::uint32_t cache = config.mbufs >= 2 * kCache ? kCache : 0;
  const std::size_t private_bytes =
      sizeof(PacketMeta) + (config.attribution ? sizeof(PacketAttribution) : 0);
  Mempool pool(rte_pktmbuf_pool_create(config.name.c_str(), config.mbufs, cache,
                                       static_cast<std::uint16_t>(private_bytes),
                                       static_cast<std::uint16_t>(room_bytes), config.socket));
  if (pool == nullptr) throw DpdkError("rte_pktmbuf_pool_create", config.name, rte_errno);
  rte_mempool_obj_iter(pool.get(), init_packet, nullptr);
  if (config.attribution)
    rte_mempool_obj_iter(
        pool.get(),
        [](rte_mempool*, void*, void* object, unsigned) {
          new (&attribution_of(*static_cast<rte_mbuf*>(object))) PacketAttribution{};
        },
        nullptr);
  return pool;
}

}  // namespace outrider
