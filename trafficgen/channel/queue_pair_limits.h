#pragma once

#include <algorithm>
#include <cstdint>

namespace outrider::tg {

/// Queue pairs that flows between two hosts use in turn: those that are made before the run, unless
/// there are many hosts, and the largest number.
inline constexpr std::uint32_t kFirstQueuePairs = 16;
inline constexpr std::uint64_t kMaxQueuePairs = 4096;
/// Queue pairs of background that are made before the run: it is memory.
inline constexpr std::uint64_t kMostQueuePairs = 65'536;
/// Pairs of hosts between which a table of flows may go: each has a list of its queue pairs.
inline constexpr std::uint64_t kMostHostPairs = 4'194'304;
/// Queue pairs of background at one host: half of its numbers, so that jobs find some too.
inline constexpr std::uint64_t kMostQueuePairsAtHost = 16'384;

/// Returns how many queue pairs two hosts have before the run: kFirstQueuePairs, or fewer if all
/// pairs of hosts together would have more than kMostQueuePairs, down to none. Further ones are
/// made when flows need them.
constexpr std::uint32_t first_queue_pairs(std::uint64_t host_pairs) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      kFirstQueuePairs, kMostQueuePairs / std::max<std::uint64_t>(host_pairs, 1)));
}

}  // namespace outrider::tg
