#pragma once

#include <compare>
#include <cstdint>

#include "common/core/hash_key.h"

namespace outrider {

/// Identifies a connection by the addresses and ports of its packets, in host byte order.
struct FlowKey {
  std::uint32_t source_address = 0;
  std::uint32_t destination_address = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;

  auto operator<=>(const FlowKey&) const = default;

  [[nodiscard]] constexpr FlowKey reversed() const noexcept {
    return {destination_address, source_address, destination_port, source_port};
  }
};

/// Return the addresses of a flow as one number, and its ports. Flows with the same two numbers
/// are the same, unless the source of one is above 255.255.255.240.
///
/// Fields are joined by multiplication instead of shifts. Compilers turn shifts into one wide
/// load, which stalls if the fields were written one by one just before.
constexpr std::uint64_t joined_addresses(const FlowKey& k) noexcept {
  constexpr std::uint64_t kAbove32Bits = 0x1'0000'000F;
  return k.source_address * kAbove32Bits + k.destination_address;
}
constexpr std::uint64_t joined_ports(const FlowKey& k) noexcept {
  constexpr std::uint64_t kAbove16Bits = 0x1'0003;
  return k.source_port * kAbove16Bits + k.destination_port;
}

/// Returns a hash for tables, see HashKey. Every input bit affects every output bit, so a
/// power-of-two table may use the low ones.
constexpr std::uint64_t hash_of(const FlowKey& k, const HashKey& key) noexcept {
  return keyed_mix(joined_addresses(k), joined_ports(k), key);
}
/// The same with the key of this process. Inlined: a call costs as much as the hash.
[[gnu::always_inline]] inline std::uint64_t hash_of(const FlowKey& k) noexcept {
  return hash_of(k, ProcessHashKey::get());
}

/// Returns a hash that is the same in every process and run, with the 64-bit finaliser of
/// MurmurHash3 over both halves. It is for choices that an operator can repeat, such as the path
/// of a flow, and not for tables: anyone can choose flows whose hashes are equal.
constexpr std::uint64_t public_hash_of(const FlowKey& k) noexcept {
  constexpr auto mix = [](std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
  };
  return mix(joined_addresses(k) ^ mix(joined_ports(k) + 0x9e3779b97f4a7c15ULL));
}

}  // namespace outrider
