#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider {

// The largest value that a file or an option may give, for each kind of quantity. The readers of
// quantities refuse more, whatever the setting is; a setting's own range may be narrower.

/// 115 days. The sum of an instant of a run and 290 such durations still fits 64 bits.
inline constexpr Duration kLongestDuration = std::chrono::seconds(10'000'000);
inline constexpr double kLongest_seconds = 1e7;
/// Beyond this rate Serializer is not exact enough.
inline constexpr BitRate kMaxRate{400'000'000'000};
/// Packets of a faster stream would be less than a nanosecond apart.
inline constexpr PacketRate kMaxPacketRate{1'000'000'000};
/// 1 PB, which is below 2^53: exact as a double, and its bits fit 64 bits.
inline constexpr std::uint64_t kLargestBytes = 1'000'000'000'000'000;
inline constexpr std::uint64_t kLargestCount = 1'000'000'000'000'000;
/// A number that is not whole is 0, or has a magnitude from the one to the other: its inverse is
/// finite, and the seconds that it stands for have not become 0.
inline constexpr double kSmallestNumber = 1e-12;
inline constexpr double kLargestNumber = 1e15;

/// Returns the rule that a number breaks, whatever it stands for; empty: none.
[[nodiscard]] inline std::string_view number_rule(double value) noexcept {
  if (!std::isfinite(value)) return "must be a finite number";
  const double magnitude = std::abs(value);
  if (magnitude > kLargestNumber) return "must be at most 1e15";
  return magnitude == 0 || magnitude >= kSmallestNumber ? "" : "must be 0, or at least 1e-12";
}

}  // namespace outrider
