#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace outrider {

/// An IPv6 address in network byte order, as in a header.
using Ipv6Address = std::array<std::uint8_t, 16>;

/// Folds an address into 32 bits for FlowKey, which identifies a flow in tables and hashes but
/// never routes it. The result lies in 240.0.0.0/4, which no IPv4 host has (RFC 1112, section
/// 4), so that nobody can choose an IPv6 address to be taken for an IPv4 flow. Two IPv6
/// addresses collide with probability 2^-28. If the other three fields of the key are equal as
/// well, the switch takes the two flows for one: they share a path and what was learned of a
/// burst, nothing else.
inline std::uint32_t fold_ipv6(const Ipv6Address& address) noexcept {
  std::uint64_t high, low;
  std::memcpy(&high, address.data(), sizeof high);
  std::memcpy(&low, address.data() + sizeof high, sizeof low);
  // Each half is multiplied by a constant of its own, so that a pattern in one half cannot
  // cancel the same pattern in the other.
  std::uint64_t x = high * 0xFF51AFD7ED558CCDULL;
  x ^= std::rotl(low * 0xC4CEB9FE1A85EC53ULL, 29);
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15ULL;
  constexpr std::uint32_t kClassE = 0xF000'0000;
  return kClassE | static_cast<std::uint32_t>(x >> 36);
}

}  // namespace outrider
