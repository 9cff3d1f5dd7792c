#pragma once

#include <cstdint>
#include <optional>

#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "common/dpdk/packet.h"
#include "common/net/arp.h"
#include "common/net/checksum.h"
#include "common/net/headers.h"

namespace outrider {

/// What the pipeline needs of a packet's headers, in host byte order.
struct ParsedPacket {
  FlowKey flow;                ///< ports are 0 unless TCP
  std::uint32_t sequence = 0;  ///< TCP
  std::uint8_t tcp_flags = 0;
  std::uint8_t tos = 0;
  bool is_arp = false;  ///< addresses are sender's and target's; there is no IP header
};

/// An ARP packet between IPv4 hosts goes where a packet for its target would go.
/// @return nothing if it is none
inline std::optional<ParsedPacket> parse_arp(Packet& packet) noexcept {
  constexpr std::uint32_t kArpOffset = sizeof(EthernetHeader);
  if (buffer(packet).size() < kArpOffset + sizeof(ArpPacket)) return std::nullopt;
  const auto& arp = header_at<ArpPacket>(packet, kArpOffset);
  if (!arp.is_ipv4_over_ethernet()) return std::nullopt;
  PacketMeta& m = meta(packet);
  m.ip_offset = 0;
  m.tcp_offset = 0;
  m.payload_bytes = 0;
  m.has_identity = false;
  m.traffic_class = TrafficClass::kBackground;
  return ParsedPacket{.flow = {arp.sender_address.get(), arp.target_address.get(), 0, 0},
                      .is_arp = true};
}

/// Reads and checks Ethernet, IPv4 and, if present, TCP, and notes offsets and
/// payload length in the packet's meta data. Lengths are checked against the
/// frame's length on the wire; header bytes must be in the buffer.
/// @return nothing if the packet must be dropped; `reason` then says why
inline std::optional<ParsedPacket> parse(Packet& packet, DropReason& reason) noexcept {
  PacketMeta& m = meta(packet);
  const auto bytes = buffer(packet);
  const auto fail = [&reason](DropReason why) {
    reason = why;
    return std::nullopt;
  };
  constexpr std::uint32_t kIpOffset = sizeof(EthernetHeader);
  if (bytes.size() < kIpOffset + sizeof(Ipv4Header)) return fail(DropReason::kMalformed);
  const auto& ethernet = header_at<EthernetHeader>(packet, 0);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ethernet.ether_type.get() == kEtherTypeArp) [[unlikely]] {
    const auto arp = parse_arp(packet);
    if (!arp) reason = DropReason::kNotIpv4;
    return arp;
  }
  if (ethernet.ether_type.get() != kEtherTypeIpv4 || (ip.version_and_length >> 4) != 4)
    return fail(DropReason::kNotIpv4);
  const std::uint32_t ip_header_bytes = ip.header_bytes();
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (ip_header_bytes < sizeof(Ipv4Header) || ip_bytes < ip_header_bytes ||
      kIpOffset + ip_bytes > m.frame_bytes || kIpOffset + ip_header_bytes > bytes.size())
    return fail(DropReason::kMalformed);
  if (!ipv4_checksum_valid(ip)) return fail(DropReason::kBadChecksum);

  m.ip_offset = kIpOffset;
  m.tcp_offset = 0;
  m.payload_bytes = 0;
  m.has_identity = false;
  m.traffic_class = TrafficClass::kBackground;
  ParsedPacket parsed{.flow = {ip.source.get(), ip.destination.get(), 0, 0}, .tos = ip.tos};
  constexpr std::uint16_t kFragmentOffsetMask = 0x1FFF;
  if (ip.protocol != kIpProtocolTcp || (ip.fragment.get() & kFragmentOffsetMask) != 0)
    return parsed;

  const std::uint32_t tcp_offset = kIpOffset + ip_header_bytes;
  if (ip_bytes < ip_header_bytes + sizeof(TcpHeader) ||
      tcp_offset + sizeof(TcpHeader) > bytes.size())
    return fail(DropReason::kMalformed);
  const auto& tcp = header_at<TcpHeader>(packet, tcp_offset);
  const std::uint32_t headers = ip_header_bytes + tcp.header_bytes();
  if (tcp.header_bytes() < sizeof(TcpHeader) || headers > ip_bytes ||
      kIpOffset + headers > bytes.size())
    return fail(DropReason::kMalformed);
  m.tcp_offset = static_cast<std::uint8_t>(tcp_offset);
  m.payload_bytes = static_cast<std::uint16_t>(ip_bytes - headers);
  parsed.flow.source_port = tcp.source_port.get();
  parsed.flow.destination_port = tcp.destination_port.get();
  parsed.sequence = tcp.sequence.get();
  parsed.tcp_flags = tcp.flags;
  return parsed;
}

/// Source address of a frame that parse() has not seen yet; nothing if it is neither
/// IPv4 nor ARP.
inline std::optional<std::uint32_t> source_address_of(Packet& packet) noexcept {
  if (buffer(packet).size() < sizeof(EthernetHeader) + sizeof(Ipv4Header)) return std::nullopt;
  const std::uint16_t type = header_at<EthernetHeader>(packet, 0).ether_type.get();
  if (type == kEtherTypeArp && buffer(packet).size() >= sizeof(EthernetHeader) + sizeof(ArpPacket))
    if (const auto& arp = header_at<ArpPacket>(packet, sizeof(EthernetHeader));
        arp.is_ipv4_over_ethernet())
      return arp.sender_address.get();
  if (type != kEtherTypeIpv4) return std::nullopt;
  return header_at<Ipv4Header>(packet, sizeof(EthernetHeader)).source.get();
}

}  // namespace outrider
