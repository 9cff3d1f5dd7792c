#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace outrider {

/// In network byte order, as it stands in a header.
using Ipv6Address = std::array<std::uint8_t, 16>;

/// An address in 32 bits, for FlowKey: names a flow to tables and hashes, and never
/// routes. Two addresses meet in one number with probability 2^-32, and with the other
/// three fields of the key equal as well two flows are then one to the switch: they
/// share a path and what was learned of a burst, nothing else.
inline std::uint32_t fold_ipv6(const Ipv6Address& address) noexcept {
  std::uint64_t high, low;
  std::memcpy(&high, address.data(), sizeof high);
  std::memcpy(&low, address.data() + sizeof high, sizeof low);
  // Each half through a multiplication of its own, so that no pattern in one cancels
  // the same pattern in the other.
  std::uint64_t x = high * 0xFF51AFD7ED558CCDULL;
  x ^= std::rotl(low * 0xC4CEB9FE1A85EC53ULL, 29);
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::uint32_t>(x >> 32);
}

}  // namespace outrider
