#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider {

inline constexpr std::size_t kPausePriorities = 8;
inline constexpr std::uint16_t kLongestPause_quanta = 0xFFFF;  ///< that one frame can ask for
inline constexpr std::uint64_t kPauseQuantumBits = 512;        ///< IEEE 802.3, annex 31B.2

/// Returns how long a transmitter of that rate pauses for so many quanta: 65,535 of them are
/// 3.36 ms at 10 Gbit/s. Rounded up, so that no pause but that of zero quanta takes no time.
/// @pre rate.bits_per_second > 0
[[nodiscard]] constexpr Duration pause_time(std::uint16_t quanta, BitRate rate) noexcept {
  assert(rate.bits_per_second > 0);
  const std::uint64_t bits = quanta * kPauseQuantumBits;
  const std::uint64_t ns = (bits * kNsPerSecond + rate.bits_per_second - 1) / rate.bits_per_second;
  return Duration{static_cast<std::int64_t>(ns)};
}

/// Returns when a longest pause that is to go on has to be renewed: half of it is over then.
/// @pre as of pause_time()
[[nodiscard]] constexpr Duration pause_renewal(BitRate rate) noexcept {
  return pause_time(kLongestPause_quanta, rate) / 2;
}
static_assert(65535 * kPauseQuantumBits < UINT64_MAX / kNsPerSecond / 2);

}  // namespace outrider
