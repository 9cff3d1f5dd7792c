#pragma once

#include <rte_mbuf.h>

#include <cassert>
#include <cstdint>
#include <span>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/core/ecn.h"
#include "common/core/flow_key.h"
#include "common/core/traffic_class.h"
#include "common/dpdk/packet/thread_order.h"
#include "common/net/headers.h"

namespace outrider {

/// A packet. In every runtime it is an mbuf from a pool of make_packet_pool().
using Packet = rte_mbuf;

/// Says whether the switch has read a packet beyond its headers, see identify() there.
enum class Content : std::uint8_t { kUnread, kNoBurst, kBurst };

/// Notes of the switch that holds a packet for its own later steps. Each switch begins anew.
struct SwitchNotes {
  Content content : 2 = Content::kUnread;  ///< kBurst: PacketMeta::identity is its burst
  std::uint8_t treatment : 2 = 0;          ///< of the egress queue for its marker, see QueueWindow
  /// Set by a switch that predicts bursts, for DDL payload: its source is in `accept_from`.
  bool source_accepted : 1 = false;
};
static_assert(sizeof(SwitchNotes) == 1);

/// Holds what the pipeline knows of a packet. It lives in the mbuf's private area, one cache
/// line next to the mbuf. The holder of the packet owns it.
///
/// A sender or a device sets frame_bytes (and has_slot). The switch's parse() sets what it reads
/// from the headers, in host byte order. The current holder of the packet uses `next` and
/// `due`.
struct alignas(64) PacketMeta {
  Packet* next = nullptr;  ///< links packets in the holder's intrusive FIFO
  Time due{};              ///< link: arrival at its far end
  std::uint32_t frame_bytes =
      0;  ///< on the wire without preamble, gap and FCS; the buffer may hold less
  std::uint16_t payload_bytes = 0;  ///< TCP payload on the wire
  std::uint8_t ip_offset = 0;       ///< of the IP header in the buffer; 0: not IP
  std::uint8_t tcp_offset = 0;      ///< of the TCP header; 0: not TCP
  FlowKey flow{};                   ///< ports of TCP and UDP, else 0; ARP: sender and target
  std::uint32_t sequence = 0;       ///< TCP sequence number
  std::uint8_t tcp_flags = 0;       ///< bits of TcpFlag
  std::uint8_t tos = 0;
  TrafficClass traffic_class = TrafficClass::kBackground;
  std::uint8_t queue = 0;        ///< of the egress port
  std::uint8_t egress_port = 0;  ///< egress port on another lcore, while the packet is handed over
  SwitchNotes notes{};
  bool has_slot = false;     ///< it carries what few packets do: see packet_slot.h
  BurstIdentity identity{};  ///< meaningful only if notes.content is kBurst
  // Five bytes are free: one before the identity, four behind it.
};
static_assert(sizeof(PacketMeta) == 64, "one cache line");

inline PacketMeta& meta(Packet& p) noexcept {
  return *static_cast<PacketMeta*>(rte_mbuf_to_priv(&p));
}
inline const PacketMeta& meta(const Packet& p) noexcept {
  return *static_cast<const PacketMeta*>(rte_mbuf_to_priv(const_cast<Packet*>(&p)));
}

/// Remembers the port by which the packet entered the switch that holds it. It is kept in the
/// mbuf's own field, which is free once a device has handed the packet over: the metadata's cache
/// line has little room, and the field's line is read for the packet's data in any case.
inline void set_ingress_port(Packet& p, std::uint16_t port) noexcept { p.port = port; }
inline std::uint16_t ingress_port_of(const Packet& p) noexcept { return p.port; }

/// Returns the bytes in the (single) segment: the whole frame on a NIC, only the headers in
/// virtual time.
inline std::span<std::uint8_t> buffer(Packet& p) noexcept {
  return {rte_pktmbuf_mtod(&p, std::uint8_t*), rte_pktmbuf_data_len(&p)};
}

template <class Header>
Header& header_at(Packet& p, std::uint32_t offset) noexcept {
  assert(offset + sizeof(Header) <= rte_pktmbuf_data_len(&p));
  return *reinterpret_cast<Header*>(rte_pktmbuf_mtod_offset(&p, std::uint8_t*, offset));
}

/// Fetches what a switch or a host reads first of a packet: of a pool with slots all but the
/// headers, which are behind the slot there. To tell such a pool it would have to read what it
/// fetches.
inline void fetch(const Packet& p) noexcept {
  __builtin_prefetch(&p, 1);
  __builtin_prefetch(&p + 1, 1);  // the metadata
  __builtin_prefetch(
      reinterpret_cast<const char*>(&p + 1) + sizeof(PacketMeta) + RTE_PKTMBUF_HEADROOM, 1);
}

namespace detail {
/// Frees a packet of any form. Out of line, because what it seldom does needs many registers.
[[gnu::noinline]] inline void release_any(Packet* p) noexcept { rte_pktmbuf_free(p); }
}  // namespace detail

/// Frees the packet; the caller gives up ownership. Nearly all packets are a single segment with
/// its own buffer and one holder, for which the lcore's cache has room: those are put there
/// directly. DPDK does the same after looking for everything else that a packet can be.
inline void release(Packet* p) noexcept {
  pass_on(p);
  const bool plain =
      p->next == nullptr && p->nb_segs == 1 && rte_mbuf_refcnt_read(p) == 1 && RTE_MBUF_DIRECT(p);
  rte_mempool_cache* cache = rte_mempool_default_cache(p->pool, rte_lcore_id());
  if (!plain || cache == nullptr || cache->len >= cache->flushthresh) [[unlikely]]
    return detail::release_any(p);
  cache->objs[cache->len++] = p;
}

}  // namespace outrider
