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

/// An ARP packet between IPv4 hosts goes where a packet for its target would go.
/// @return false if it is none
[[nodiscard]] inline bool parse_arp(Packet& packet) noexcept {
  constexpr std::uint32_t kArpOffset = sizeof(EthernetHeader);
  if (buffer(packet).size() < kArpOffset + sizeof(ArpPacket)) return false;
  const auto& arp = header_at<ArpPacket>(packet, kArpOffset);
  if (!arp.is_ipv4_over_ethernet()) return false;
  PacketMeta& m = meta(packet);
  m.ip_offset = 0;
  m.tcp_offset = 0;
  m.payload_bytes = 0;
  m.flow = {arp.sender_address.get(), arp.target_address.get(), 0, 0};
  m.tcp_flags = 0;
  m.tos = 0;
  return true;
}

/// Reads and checks Ethernet, IPv4 and, if present, TCP into the packet's meta data.
/// Lengths are checked against the frame's length on the wire; header bytes must be
/// in the buffer.
/// @return why the packet must be dropped, or nothing
[[nodiscard]] inline std::optional<DropReason> parse(Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  const auto bytes = buffer(packet);
  constexpr std::uint32_t kIpOffset = sizeof(EthernetHeader);
  if (bytes.size() < kIpOffset + sizeof(Ipv4Header)) return DropReason::kMalformed;
  const auto& ethernet = header_at<EthernetHeader>(packet, 0);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ethernet.ether_type.get() == kEtherTypeArp) [[unlikely]]
    return parse_arp(packet) ? std::nullopt : std::optional(DropReason::kNotIpv4);
  if (ethernet.ether_type.get() != kEtherTypeIpv4 || (ip.version_and_length >> 4) != 4)
    return DropReason::kNotIpv4;
  const std::uint32_t ip_header_bytes = ip.header_bytes();
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (ip_header_bytes < sizeof(Ipv4Header) || ip_bytes < ip_header_bytes ||
      kIpOffset + ip_bytes > m.frame_bytes || kIpOffset + ip_header_bytes > bytes.size())
    return DropReason::kMalformed;
  if (!ipv4_checksum_valid(ip)) return DropReason::kBadChecksum;

  m.ip_offset = kIpOffset;
  m.tos = ip.tos;
  constexpr std::uint16_t kFragmentOffsetMask = 0x1FFF;
  if (ip.protocol != kIpProtocolTcp || (ip.fragment.get() & kFragmentOffsetMask) != 0) {
    m.tcp_offset = 0;
    m.payload_bytes = 0;
    m.flow = {ip.source.get(), ip.destination.get(), 0, 0};
    m.tcp_flags = 0;
    return std::nullopt;
  }

  const std::uint32_t tcp_offset = kIpOffset + ip_header_bytes;
  if (ip_bytes < ip_header_bytes + sizeof(TcpHeader) ||
      tcp_offset + sizeof(TcpHeader) > bytes.size())
    return DropReason::kMalformed;
  const auto& tcp = header_at<TcpHeader>(packet, tcp_offset);
  const std::uint32_t headers = ip_header_bytes + tcp.header_bytes();
  if (tcp.header_bytes() < sizeof(TcpHeader) || headers > ip_bytes ||
      kIpOffset + headers > bytes.size())
    return DropReason::kMalformed;
  m.tcp_offset = static_cast<std::uint8_t>(tcp_offset);
  m.payload_bytes = static_cast<std::uint16_t>(ip_bytes - headers);
  m.flow = {ip.source.get(), ip.destination.get(), tcp.source_port.get(),
            tcp.destination_port.get()};
  m.sequence = tcp.sequence.get();
  m.tcp_flags = tcp.flags;
  return std::nullopt;
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
