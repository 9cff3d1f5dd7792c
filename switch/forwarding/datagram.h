#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "common/dpdk/packet/packet.h"
#include "common/net/checksum.h"
#include "common/net/headers.h"
#include "common/net/udp_signal.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {

/// The part of a UDP payload that is in the packet's buffer, and the payload's length on the wire.
struct DatagramHead {
  std::span<const std::uint8_t> present;
  std::uint32_t payload_bytes = 0;
};

/// Returns the same as datagram_of() for a buffer that may end before the datagram does, as in
/// virtual time. Returns nothing if the packet is no UDP datagram over IPv4, a fragment, or
/// inconsistent in its lengths. @pre parse() has accepted the packet
inline std::optional<DatagramHead> datagram_head_of(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.ip_offset == 0 || m.tcp_offset != 0 || is_ipv6_at(packet, m.ip_offset)) return std::nullopt;
  const auto& ip = header_at<Ipv4Header>(packet, m.ip_offset);
  constexpr std::uint16_t kFragment = 0x3FFF;  // more to come, or not the first
  const std::uint32_t offset = m.ip_offset + ip.header_bytes();
  if (ip.protocol != kIpProtocolUdp || (ip.fragment.get() & kFragment) != 0 ||
      offset + sizeof(UdpHeader) > buffer(packet).size())
    return std::nullopt;
  const std::uint32_t udp_bytes = header_at<UdpHeader>(packet, offset).length.get();
  if (udp_bytes < sizeof(UdpHeader) || ip.header_bytes() + udp_bytes != ip.total_length.get())
    return std::nullopt;
  const auto there = buffer(packet).subspan(offset);
  return DatagramHead{
      there.first(std::min<std::size_t>(there.size(), udp_bytes)).subspan(sizeof(UdpHeader)),
      udp_bytes - static_cast<std::uint32_t>(sizeof(UdpHeader))};
}

/// Returns the payload of a UDP datagram over IPv4, or nothing if the packet is not one. The
/// payload is empty if the datagram is not whole: a fragment, a length that disagrees with
/// IPv4's, or a buffer that holds less. @pre parse() has accepted the packet
inline std::optional<std::span<const std::uint8_t>> datagram_of(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.ip_offset == 0 || m.tcp_offset != 0 || is_ipv6_at(packet, m.ip_offset)) return std::nullopt;
  const auto& ip = header_at<Ipv4Header>(packet, m.ip_offset);
  if (ip.protocol != kIpProtocolUdp) return std::nullopt;
  constexpr std::uint16_t kFragment = 0x3FFF;  // more to come, or not the first
  const std::uint32_t offset = m.ip_offset + ip.header_bytes();
  if ((ip.fragment.get() & kFragment) != 0 || offset + sizeof(UdpHeader) > buffer(packet).size())
    return std::span<const std::uint8_t>{};
  const std::uint32_t udp_bytes = header_at<UdpHeader>(packet, offset).length.get();
  if (udp_bytes < sizeof(UdpHeader) || ip.header_bytes() + udp_bytes != ip.total_length.get() ||
      offset + udp_bytes > buffer(packet).size())
    return std::span<const std::uint8_t>{};
  return buffer(packet).subspan(offset + sizeof(UdpHeader), udp_bytes - sizeof(UdpHeader));
}

/// Replaces the signal in a datagram. The checksum is updated incrementally, so that a wrong one
/// stays wrong. @pre datagram_of() has returned kBytes bytes
inline void rewrite_signal(Packet& packet, const udp_signal::Signal& signal) noexcept {
  const PacketMeta& m = meta(packet);
  const std::uint32_t offset =
      m.ip_offset + header_at<Ipv4Header>(packet, m.ip_offset).header_bytes();
  auto& udp = header_at<UdpHeader>(packet, offset);
  std::array<std::uint8_t, udp_signal::kBytes> after{};
  udp_signal::encode(signal, after);
  std::uint8_t* const before = reinterpret_cast<std::uint8_t*>(&udp + 1);
  std::uint16_t checksum;
  std::memcpy(&checksum, udp.checksum.raw.data(), sizeof checksum);
  if (checksum != 0) {  // 0: the sender computed none (RFC 768)
    for (std::size_t i = 0; i < after.size(); i += 2) {
      std::uint16_t old_word, new_word;
      std::memcpy(&old_word, before + i, sizeof old_word);
      std::memcpy(&new_word, after.data() + i, sizeof new_word);
      checksum = checksum_update(checksum, old_word, new_word);
    }
    if (checksum == 0) checksum = 0xFFFF;
    std::memcpy(udp.checksum.raw.data(), &checksum, sizeof checksum);
  }
  std::memcpy(before, after.data(), after.size());
}

}  // namespace outrider::sw
