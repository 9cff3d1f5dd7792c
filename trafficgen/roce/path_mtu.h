#pragma once

#include <cstdint>

#include "common/net/headers.h"
#include "common/net/roce.h"

namespace outrider::tg {

/// Returns the largest payload of a packet, of those that InfiniBand has, that fits into an IP
/// packet of that length with every header; 0 if none does.
[[nodiscard]] constexpr std::uint32_t path_mtu_of(std::uint32_t mtu_bytes) noexcept {
  constexpr std::uint32_t kHeaders = static_cast<std::uint32_t>(
      sizeof(Ipv4Header) + sizeof(UdpHeader) + roce::kMaxHeaderBytes + roce::kIcrcBytes);
  for (std::uint32_t payload = 4096; payload >= 256; payload /= 2)
    if (payload + kHeaders <= mtu_bytes) return payload;
  return 0;
}

}  // namespace outrider::tg
