#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace outrider {

/// Tells whether a counter of one sender was seen before. It remembers the kMessages greatest
/// counters that it took; whatever is not greater than the least of them counts as seen. So
/// messages may overtake each other by kMessages - 1 places, however far apart their counters are.
///
/// take() costs at most kMessages steps. Not thread-safe.
///
/// RFC 6479 keeps a bit for each number instead, which needs counters without gaps. Here they
/// follow the sender's clock (see udp_signal.h), so that a restart of either end needs no memory.
class ReplayWindow {
 public:
  static constexpr std::size_t kMessages = 64;

  ReplayWindow() = default;
  /// @param floor  no counter up to this one is new
  explicit ReplayWindow(std::uint64_t floor) noexcept { greatest_first_.fill(floor); }

  /// Returns whether the counter is new. If so, it is not new again.
  bool take(std::uint64_t counter) noexcept {
    if (counter <= greatest_first_.back()) return false;
    auto* const place = std::ranges::find_if(
        greatest_first_, [counter](std::uint64_t seen) { return seen <= counter; });
    if (*place == counter) return false;
    std::move_backward(place, greatest_first_.end() - 1, greatest_first_.end());
    *place = counter;
    return true;
  }

  [[nodiscard]] std::uint64_t greatest() const noexcept { return greatest_first_.front(); }

 private:
  std::array<std::uint64_t, kMessages> greatest_first_{};
};

}  // namespace outrider
