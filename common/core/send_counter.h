#pragma once

#include <algorithm>
#include <cstdint>

namespace outrider {

/// Numbers the signed messages of one sender by its clock, so that a receiver can tell a new
/// message from an old one even after a restart of either end (see ReplayWindow). Messages that
/// leave at one reading of the clock, or after it was set back, get the next greater numbers.
/// Not thread-safe.
class SendCounter {
 public:
  /// @param clock_ns  the sender's clock at sending [ns]
  /// @return greater than every number before, and than 0
  std::uint64_t next(std::uint64_t clock_ns) noexcept {
    return last_ = std::max(last_ + 1, clock_ns);
  }
  /// Returns the number given last; 0: none.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace outrider
