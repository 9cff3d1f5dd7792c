#pragma once

#include <cstdint>

namespace outrider::tg {

/// Queue pairs that flows between two hosts use in turn: those that are there from the start, and
/// the largest number.
inline constexpr std::uint32_t kFirstQueuePairs = 16;
inline constexpr std::uint64_t kMaxQueuePairs = 4096;
/// Queue pairs of background at one host: half of its numbers, so that jobs find some too.
inline constexpr std::uint64_t kMostQueuePairsAtHost = 16'384;

}  // namespace outrider::tg
