#pragma once

#include <compare>
#include <cstdint>

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

/// Returns a hash with the 64-bit finaliser of MurmurHash3 over both halves. Every input bit
/// affects every output bit, so a power-of-two table may use the low ones.
///
/// Fields are joined by multiplication instead of shifts. Compilers turn shifts into one wide
/// load, which stalls if the fields were written one by one just before.
constexpr std::uint64_t hash_of(const FlowKey& k) noexcept {
  constexpr auto mix = [](std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
  };
  constexpr std::uint64_t kAbove32Bits = 0x1'0000'000F;
  constexpr std::uint64_t kAbove16Bits = 0x1'0003;
  const std::uint64_t addresses = k.source_address * kAbove32Bits + k.destination_address;
  const std::uint64_t ports = k.source_port * kAbove16Bits + k.destination_port;
  return mix(addresses ^ mix(ports + 0x9e3779b97f4a7c15ULL));
}

}  // namespace outrider
