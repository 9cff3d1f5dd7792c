#pragma once

#include <cstdint>

#include "common/dpdk/packet.h"
#include "common/net/headers.h"

namespace outrider {

/// In virtual time, hosts and switches of one process hand each other TCP segments that a host of
/// this process has written. The writer also puts the fields of the headers into the metadata, as
/// parse() would, and then says note_headers(). Whoever receives such a packet finds them there,
/// and need not check lengths and checksums that cannot be wrong.
///
/// The bytes are complete all the same. A switch may change TTL, MAC addresses, ECN and TCP's
/// window with the functions of header_rewrite.h; these fields are read from the bytes. Whoever
/// changes others, or copies the metadata to a packet of other bytes, calls forget_headers().
///
/// The writer of a packet of RoCEv2 says note_icrc(): the invariant CRC is right. It does not cover
/// what a switch may change. Whoever changes other bytes calls forget_headers().
///
/// The note is a packet type that DPDK does not define. Taking a buffer from its pool clears it.
inline constexpr std::uint32_t kHeadersNoted = 0x1000'0000;
inline constexpr std::uint32_t kIcrcNoted = 0x2000'0000;

/// Offsets of the headers of such a packet: no VLAN tag, no IPv4 options.
inline constexpr std::uint8_t kKnownIpOffset = sizeof(EthernetHeader);
inline constexpr std::uint8_t kKnownTcpOffset = kKnownIpOffset + sizeof(Ipv4Header);

/// @pre flow, sequence, tcp_flags, payload_bytes and frame_bytes of the metadata are set
inline void note_headers(Packet& packet, std::uint8_t tos) noexcept {
  PacketMeta& m = meta(packet);
  m.ip_offset = kKnownIpOffset;
  m.tcp_offset = kKnownTcpOffset;
  m.tos = tos;
  packet.packet_type = kHeadersNoted;
}
/// The ICRC of a packet whose buffer holds less than the frame. The field is one of the mbuf that
/// drivers read only where an offload is asked for; links keep theirs in another (Link).
inline std::uint64_t& icrc_beside(Packet& packet) noexcept { return packet.tx_offload; }
inline void note_icrc(Packet& packet) noexcept { packet.packet_type = kIcrcNoted; }
[[nodiscard]] inline bool knows_icrc(const Packet& packet) noexcept {
  return packet.packet_type == kIcrcNoted;
}
inline void forget_headers(Packet& packet) noexcept { packet.packet_type = 0; }
[[nodiscard]] inline bool knows_headers(const Packet& packet) noexcept {
  return packet.packet_type == kHeadersNoted;
}

}  // namespace outrider
