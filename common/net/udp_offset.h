#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/net/headers.h"

namespace outrider {

/// Returns the offset of the UDP header; nothing unless it is an IPv4 datagram's first or only
/// fragment. @param frame any bytes. @param ip_offset of the IP header in it; 0: there is none
[[nodiscard]] inline std::optional<std::size_t> udp_offset(std::span<const std::uint8_t> frame,
                                                           std::size_t ip_offset) noexcept {
  constexpr std::uint16_t kOffsetOrMore = 0x3FFF;
  if (ip_offset == 0 || frame.size() < ip_offset + sizeof(Ipv4Header)) return std::nullopt;
  const auto& ip = *reinterpret_cast<const Ipv4Header*>(frame.data() + ip_offset);
  if (ip.version_and_length >> 4 != 4 || ip.protocol != kIpProtocolUdp) return std::nullopt;
  if (ip.header_bytes() < sizeof(Ipv4Header)) return std::nullopt;
  if ((ip.fragment.get() & kOffsetOrMore) != 0) return std::nullopt;
  return ip_offset + ip.header_bytes();
}

}  // namespace outrider
