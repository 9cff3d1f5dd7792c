#pragma once

#include <cstdint>

namespace outrider {

/// Returns a - b on the circle of 32-bit sequence numbers (RFC 9293, section 3.4).
constexpr std::int32_t sequence_distance(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b);
}

/// Returns the later of two numbers that are less than half the circle apart.
constexpr std::uint32_t later_sequence(std::uint32_t a, std::uint32_t b) noexcept {
  return sequence_distance(a, b) >= 0 ? a : b;
}

}  // namespace outrider
