#pragma once

#include <cstdint>

#include "common/dpdk/packet/packet.h"
#include "common/net/headers.h"

namespace outrider {

/// In virtual time, hosts and switches of one process hand each other TCP segments and packets of
/// RoCEv2 that a host of this process has written. The writer also puts the fields of the headers
/// into the metadata, as parse() would, and then says note_segment() or note_roce(). Whoever
/// receives such a packet finds them there, and need not check lengths and checksums that cannot be
/// wrong.
///
/// The bytes are complete all the same. A switch may change TTL, MAC addresses, ECN and TCP's
/// window with the functions of header_rewrite.h, and may write telemetry into packets of RoCEv2
/// (roce_telemetry.h); these fields are read from the bytes. Whoever
/// changes others, or copies the metadata to a packet of other bytes, calls forget_headers().
///
/// Like the payload before it, the invariant CRC of RoCEv2 is not computed where the buffer ends
/// before it. Without the note a receiver takes it as wrong.
///
/// The note is a packet type that DPDK does not define. Taking a buffer from its pool clears it.
inline constexpr std::uint32_t kSegmentNoted = 0x1000'0000;
inline constexpr std::uint32_t kRoceNoted = 0x2000'0000;

/// Offsets of the headers of such a packet: no VLAN tag, no IPv4 options.
inline constexpr std::uint8_t kKnownIpOffset = sizeof(EthernetHeader);
inline constexpr std::uint8_t kKnownTransportOffset = kKnownIpOffset + sizeof(Ipv4Header);

/// @pre flow, sequence, tcp_flags, payload_bytes and frame_bytes of the metadata are set
inline void note_segment(Packet& packet, std::uint8_t tos) noexcept {
  PacketMeta& m = meta(packet);
  m.ip_offset = kKnownIpOffset;
  m.tcp_offset = kKnownTransportOffset;
  m.tos = tos;
  packet.packet_type = kSegmentNoted;
}
/// Reads of a packet of RoCEv2 what a switch may have changed, in the bytes or in the metadata.
inline void reread_known_roce(Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  m.sequence = 0;
  m.payload_bytes = 0;
  m.tos = header_at<Ipv4Header>(packet, kKnownIpOffset).tos;
}
/// @pre the bytes are written, and frame_bytes of the metadata is set
inline void note_roce(Packet& packet, const FlowKey& flow) noexcept {
  PacketMeta& m = meta(packet);
  m.flow = flow;
  m.ip_offset = kKnownIpOffset;
  m.tcp_offset = 0;
  m.tcp_flags = 0;
  reread_known_roce(packet);
  packet.packet_type = kRoceNoted;
}
inline void forget_headers(Packet& packet) noexcept { packet.packet_type = 0; }
[[nodiscard]] inline bool knows_segment(const Packet& packet) noexcept {
  return packet.packet_type == kSegmentNoted;
}
[[nodiscard]] inline bool knows_roce(const Packet& packet) noexcept {
  return packet.packet_type == kRoceNoted;
}

}  // namespace outrider
