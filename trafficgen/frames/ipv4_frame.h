#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "common/core/flow_key.h"
#include "common/core/units.h"
#include "common/net/checksum.h"
#include "common/net/header_writer.h"
#include "common/net/headers.h"

namespace outrider::tg {

inline constexpr std::uint32_t kIpOffset = sizeof(EthernetHeader);
/// Offset of the TCP or UDP header: hosts write IPv4 headers without options.
inline constexpr std::uint32_t kTransportOffset = kIpOffset + sizeof(Ipv4Header);
inline constexpr std::uint8_t kInitialTtl = 64;
/// Of what packets leave in their buffers, nothing but zeros is behind this offset. The longest is
/// a datagram's head; writers whose payload is zeros clear up to here.
inline constexpr std::uint32_t kWrittenEnd = kTransportOffset + 84;

/// Stores a checksum that was computed over words in memory order.
inline void write_memory_order(Be16& field, std::uint16_t checksum) noexcept {
  std::memcpy(field.raw.data(), &checksum, sizeof checksum);
}

/// Writes the IPv4 header of an atomic datagram, which needs no identification (RFC 6864, 4.1).
/// @param out      [size >= sizeof(Ipv4Header)]
/// @param tos      the whole byte, ECN included
/// @param ip_bytes length of the header and of what follows it
inline void write_ipv4(std::uint8_t* out, const FlowKey& flow, std::uint8_t protocol,
                       std::uint8_t tos, std::uint16_t ip_bytes) noexcept {
  constexpr std::uint16_t kDontFragment = 0x4000;
  HeaderWriter header(out);
  header.put(word_of(static_cast<std::uint16_t>(0x4500 | tos), ip_bytes));
  header.put(word_of(0, kDontFragment));
  header.put(word_of(static_cast<std::uint16_t>(kInitialTtl << 8 | protocol), 0));
  header.put(be32(flow.source_address));
  header.put(be32(flow.destination_address));
  write_memory_order(reinterpret_cast<Ipv4Header*>(out)->checksum,
                     static_cast<std::uint16_t>(~checksum_fold(header.sum())));
}

/// @param bytes length of the transport header and its payload
[[nodiscard]] inline std::uint64_t pseudo_header_sum(const FlowKey& flow, std::uint8_t protocol,
                                                     std::uint16_t bytes) noexcept {
  return std::uint64_t{be32(flow.source_address)} + be32(flow.destination_address) +
         be16(protocol) + be16(bytes);
}

/// Writes a UDP header before a payload of which the buffer holds only the beginning. The rest is
/// zeros, which add nothing to the sum.
/// @param udp_bytes length of header and payload
inline void write_udp(std::uint8_t* out, const FlowKey& flow, std::uint16_t udp_bytes,
                      std::span<const std::uint8_t> present) noexcept {
  HeaderWriter udp(out);
  udp.put(word_of(flow.source_port, flow.destination_port));
  udp.put(word_of(udp_bytes, 0));
  const std::uint64_t sum = udp.sum() + pseudo_header_sum(flow, kIpProtocolUdp, udp_bytes);
  const auto checksum = static_cast<std::uint16_t>(~checksum_fold(checksum_add(present, sum)));
  // A sum of zero is sent as all ones, because zero means that there is no checksum.
  write_memory_order(reinterpret_cast<UdpHeader*>(out)->checksum,
                     checksum == 0 ? 0xFFFF : checksum);
}

/// Writes a UDP header without a checksum.
inline void write_udp_unsummed(std::uint8_t* out, const FlowKey& flow,
                               std::uint16_t udp_bytes) noexcept {
  HeaderWriter udp(out);
  udp.put(word_of(flow.source_port, flow.destination_port));
  udp.put(word_of(udp_bytes, 0));
}

}  // namespace outrider::tg
