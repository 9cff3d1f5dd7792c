#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"

namespace outrider::tg {

/// When the packets in flight left, for round trips. A packet that left more than once has no such
/// time, because nobody knows which one is acknowledged (Karn). A ring; nothing allocates after
/// construction. Not thread-safe.
class DepartureTimes {
 public:
  /// @param window_packets in flight at most; 0: none is noted
  explicit DepartureTimes(std::uint32_t window_packets)
      : times_(window_packets == 0 ? 0 : std::bit_ceil(window_packets)) {}

  void note(std::uint64_t packet, Time now, bool again) noexcept {
    times_[place(packet)] = again ? kNever : now;
  }
  /// Returns the round trip of a packet whose acknowledgment has come.
  [[nodiscard]] std::optional<Duration> round_trip(std::uint64_t packet, Time now) const noexcept {
    const Time left = times_[place(packet)];
    return left == kNever ? std::nullopt : std::optional(now - left);
  }

 private:
  [[nodiscard]] std::size_t place(std::uint64_t packet) const noexcept {
    return packet & (times_.size() - 1);
  }

  std::vector<Time> times_;
};

}  // namespace outrider::tg
