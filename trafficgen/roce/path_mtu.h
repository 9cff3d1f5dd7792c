#pragma once

#include <cstdint>

#include "common/core/units.h"
#include "common/net/headers.h"
#include "common/net/roce.h"

namespace outrider::tg {

/// Bytes of an IP packet beside its payload, with every header.
inline constexpr std::uint32_t kPathMtuHeaders = static_cast<std::uint32_t>(
    sizeof(Ipv4Header) + sizeof(UdpHeader) + roce::kMaxHeaderBytes + roce::kIcrcBytes);
inline constexpr std::uint32_t kLeastPathMtu = 256, kMostPathMtu = 4096;

/// Returns the largest payload of a packet, of those that InfiniBand has, that fits into an IP
/// packet of that length with every header; 0 if none does.
[[nodiscard]] constexpr std::uint32_t path_mtu_of(std::uint32_t mtu_bytes) noexcept {
  for (std::uint32_t payload = kMostPathMtu; payload >= kLeastPathMtu; payload /= 2)
    if (payload + kPathMtuHeaders <= mtu_bytes) return payload;
  return 0;
}

/// Returns true if that length of IP packets is meant for its path MTU: it holds just such a
/// payload, or the largest, or it is Ethernet's 1,500. Any other would silently carry down to half
/// of what fits.
/// @param beside bytes that a packet carries beside payload and headers
[[nodiscard]] constexpr bool is_exact_for_path_mtu(std::uint32_t mtu_bytes,
                                                   std::uint32_t beside = 0) noexcept {
  constexpr std::uint32_t kEthernet = 1500;
  if (mtu_bytes < beside) return false;
  const std::uint32_t payload = path_mtu_of(mtu_bytes - beside);
  return payload == kMostPathMtu || mtu_bytes == kEthernet ||
         (payload != 0 && payload + kPathMtuHeaders + beside == mtu_bytes);
}

/// Bytes on the wire (L1) of a data packet without RETH, beside its payload.
inline constexpr std::uint32_t kAroundPayloadBytes =
    static_cast<std::uint32_t>(sizeof(EthernetHeader) + sizeof(Ipv4Header) + sizeof(UdpHeader)) +
    roce::kBthBytes + roce::kIcrcBytes + kL1OverheadBytes;

/// Returns the bytes on the wire (L1) of one WRITE without immediate that is sent in full packets
/// and a rest.
[[nodiscard]] constexpr std::uint64_t wire_bytes_of_write(std::uint64_t bytes,
                                                          std::uint32_t path_mtu) noexcept {
  constexpr std::uint64_t kAddressBytes = 16;  // RETH
  const std::uint64_t packets = (bytes + path_mtu - 1) / path_mtu;
  return packets * kAroundPayloadBytes + kAddressBytes + bytes +
         roce::pad_of(static_cast<std::uint32_t>(bytes));
}

}  // namespace outrider::tg
