#pragma once

#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// The clock of the timestamps option. Its ticks are 1 ms, as in most hosts. Finer ticks would wrap
/// while a connection is idle for an hour, and its next segment would count as an old duplicate
/// (RFC 7323, section 5.4).
struct TimestampClock {
  static constexpr Duration kTick = std::chrono::milliseconds(1);
  static constexpr std::uint8_t kOptionBytes = 12;  ///< with its padding

  /// Returns the timestamp at that time. It begins at 1: some hosts take an echo of 0 for none.
  [[nodiscard]] static constexpr std::uint32_t at(Time now) noexcept {
    return static_cast<std::uint32_t>(now.time_since_epoch() / kTick) + 1;
  }
  /// Returns the time since the tick `echo` began. Wrong echoes give any value.
  [[nodiscard]] static constexpr Duration since(std::uint32_t echo, Time now) noexcept {
    const auto ticks = static_cast<std::int32_t>(at(now) - echo);
    return ticks * kTick + now.time_since_epoch() % kTick;
  }
  /// Returns true if a is before b (RFC 7323, section 5.2).
  [[nodiscard]] static constexpr bool before(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) < 0;
  }
};

}  // namespace outrider::tg
