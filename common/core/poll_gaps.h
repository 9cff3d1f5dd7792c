#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/core/clock.h"

namespace outrider {

/// An interval in which a loop did not poll: whatever was due in it happened late.
struct PollGap {
  std::int64_t at_ns = 0;      ///< of the poll before the gap, on the loop's own clock
  std::int64_t length_ns = 0;  ///< to the next poll

  friend bool operator==(const PollGap&, const PollGap&) = default;
};

/// Keeps the longest gaps of one loop that are longer than `kShortest`, at most `kKept` of
/// them. Allocates at construction only. O(log kKept) for a gap that is kept.
class PollGaps {
 public:
  static constexpr std::size_t kKept = 4096;
  static constexpr Duration kShortest = std::chrono::microseconds(10);

  PollGaps() { heap_.reserve(kKept); }

  void note(Time at, Duration length) noexcept {
    if (length <= kShortest) [[likely]]
      return;
    const PollGap gap{at.time_since_epoch().count(), length.count()};
    if (heap_.size() == kKept) {
      if (gap.length_ns <= heap_.front().length_ns) return;
      std::ranges::pop_heap(heap_, kShortestFirst);
      heap_.pop_back();
    }
    heap_.push_back(gap);
    std::ranges::push_heap(heap_, kShortestFirst);
  }

  /// Returns the gaps kept, in no particular order.
  [[nodiscard]] std::span<const PollGap> kept() const noexcept { return heap_; }

 private:
  static constexpr auto kShortestFirst = [](const PollGap& a, const PollGap& b) {
    return a.length_ns > b.length_ns;
  };

  std::vector<PollGap> heap_;
};

/// Merges gaps of loops that share a clock: the longest PollGaps::kKept at most, by time.
inline std::vector<PollGap> merged(std::vector<PollGap> gaps) {
  if (gaps.size() > PollGaps::kKept) {
    const auto end = gaps.begin() + static_cast<std::ptrdiff_t>(PollGaps::kKept);
    std::ranges::nth_element(gaps, end, std::ranges::greater{}, &PollGap::length_ns);
    gaps.erase(end, gaps.end());
  }
  std::ranges::sort(gaps, {}, &PollGap::at_ns);
  return gaps;
}

/// Returns the length above which `gaps`, as kept by PollGaps, hold all gaps [ns].
[[nodiscard]] inline std::int64_t complete_above_ns(std::span<const PollGap> gaps) noexcept {
  if (gaps.size() < PollGaps::kKept) return PollGaps::kShortest.count();
  return std::ranges::min(gaps, {}, &PollGap::length_ns).length_ns;
}

}  // namespace outrider
