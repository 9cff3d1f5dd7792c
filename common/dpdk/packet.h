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
#include "common/net/headers.h"
#include "common/regulation/window_policy.h"

namespace outrider {

/// Every packet of every runtime is an mbuf from a pool of make_packet_pool().
using Packet = rte_mbuf;

/// What the pipeline knows of a packet; lives in the mbuf's private area, one
/// cache line beside the mbuf. Whoever holds the packet owns it.
///
/// A sender or a device sets frame_bytes (and owner); the switch's parse() sets what
/// it reads from the headers, in host byte order; whoever hands the packet on keeps
/// `next` and `due`.
struct alignas(64) PacketMeta {
  Packet* next = nullptr;  ///< intrusive FIFO of whoever holds it
  Time due{};              ///< link: arrival at its far end
  std::uint32_t frame_bytes =
      0;  ///< on the wire without preamble, gap and FCS; the buffer may hold less
  std::uint16_t payload_bytes = 0;  ///< TCP payload on the wire
  std::uint8_t ip_offset = 0;       ///< of the IP header in the buffer; 0: not IP
  std::uint8_t tcp_offset = 0;      ///< of the TCP header; 0: not TCP
  FlowKey flow{};                   ///< ports of TCP and UDP, else 0; ARP: sender and target
  std::uint32_t sequence = 0;       ///< TCP
  std::uint8_t tcp_flags = 0;       ///< TcpFlag
  std::uint8_t tos = 0;
  TrafficClass traffic_class = TrafficClass::kBackground;
  std::uint8_t queue = 0;        ///< of the egress port
  std::uint8_t egress_port = 0;  ///< while another lcore's port waits for it
  /// By the egress queue's window clamp, for its marker.
  WindowTreatment window_treatment = WindowTreatment::kFallback;
  bool has_identity = false;
  BurstIdentity identity{};  ///< meaningful only if has_identity
  std::uint32_t owner = 0;   ///< of packet_attribution.h: job and worker; 0: nobody, or it is off
};
static_assert(sizeof(PacketMeta) == 64, "one cache line");

inline PacketMeta& meta(Packet& p) noexcept {
  return *static_cast<PacketMeta*>(rte_mbuf_to_priv(&p));
}
inline const PacketMeta& meta(const Packet& p) noexcept {
  return *static_cast<const PacketMeta*>(rte_mbuf_to_priv(const_cast<Packet*>(&p)));
}

/// Bytes present in the (single) segment: all of the frame on a NIC, the
/// headers alone in virtual time.
inline std::span<std::uint8_t> buffer(Packet& p) noexcept {
  return {rte_pktmbuf_mtod(&p, std::uint8_t*), rte_pktmbuf_data_len(&p)};
}

template <class Header>
Header& header_at(Packet& p, std::uint32_t offset) noexcept {
  assert(offset + sizeof(Header) <= rte_pktmbuf_data_len(&p));
  return *reinterpret_cast<Header*>(rte_pktmbuf_mtod_offset(&p, std::uint8_t*, offset));
}

/// Frees it: the caller gives up ownership.
inline void release(Packet* p) noexcept { rte_pktmbuf_free(p); }

}  // namespace outrider
