#pragma once

#include <compare>
#include <cstdint>

namespace outrider {

enum class BurstDirection : std::uint8_t { kPush, kPull };

/// Identifies the burst that a packet belongs to. Processes share no clock, so this joins
/// what the switch and the generator recorded of the same burst. It travels in a TCP option
/// that only measurement reads; regulation never does.
struct BurstIdentity {
  std::uint16_t job = 0;
  std::uint16_t worker = 0;  ///< < 32768
  std::uint32_t iteration = 0;
  BurstDirection direction = BurstDirection::kPush;

  auto operator<=>(const BurstIdentity&) const = default;
};

}  // namespace outrider
