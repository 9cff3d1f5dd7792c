#pragma once

#include <cstdint>

namespace outrider {

/// The ECN field, the two low bits of the TOS byte (RFC 3168, section 5).
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

inline constexpr std::uint8_t kEcnMask = 0x03;

constexpr Ecn ecn_of(std::uint8_t tos) noexcept { return static_cast<Ecn>(tos & kEcnMask); }

/// Returns whether a switch may set CE on the packet. CE itself counts: it stays CE.
constexpr bool is_ect(Ecn e) noexcept { return e != Ecn::kNotEct; }

}  // namespace outrider
