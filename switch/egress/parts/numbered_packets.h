#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Decides which data packets of a port are lost or marked because of their number: 1 is the first
/// that arrives at the port, resent ones count like others. Both senders of a comparison then meet
/// the same impairment at the same place, which random loss does not give. Allocates at
/// construction only. Not thread-safe: the port's lcore owns it.
class NumberedPackets {
 public:
  /// @param lose,mark  numbers, ascending. A packet with a number in both is lost
  NumberedPackets(std::vector<std::uint32_t> lose, std::vector<std::uint32_t> mark)
      : lose_(std::move(lose)), mark_(std::move(mark)) {}

  /// Returns whether any packet is lost or marked.
  [[nodiscard]] bool any() const noexcept { return !lose_.empty() || !mark_.empty(); }

  /// Counts an arriving packet and returns what is done to it.
  /// @param data  whether it has payload and is no signal; others have no number and pass
  [[nodiscard]] ArrivalVerdict judge(bool data) noexcept {
    if (!any() || !data) [[likely]]
      return {};
    ++number_;
    const bool lost = reaches(lose_, next_lose_);
    const bool marked = reaches(mark_, next_mark_);
    if (lost) return {.lost = DropReason::kInjectedLoss};
    if (marked) return {.marked = MarkReason::kInjected};
    return {};
  }

 private:
  /// Returns whether the packet has the next number of the list, which then moves on.
  [[nodiscard]] bool reaches(const std::vector<std::uint32_t>& numbers,
                             std::size_t& next) const noexcept {
    assert(next == numbers.size() || numbers[next] >= number_);
    if (next == numbers.size() || numbers[next] != number_) return false;
    ++next;
    return true;
  }

  std::vector<std::uint32_t> lose_, mark_;
  std::size_t next_lose_ = 0, next_mark_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace outrider::sw
