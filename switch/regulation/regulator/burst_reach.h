#pragma once

#include <cstdint>

#include "common/core/sequence.h"

namespace outrider {

/// Returns how many bytes of a burst there are up to the furthest that has come, after payload that
/// ends at `end`. It is counted from the furthest byte so far, because a burst may be longer than
/// half the circle of sequence numbers.
/// @param begin  sequence number of the burst's first byte
/// @param reached  the result for the payload before; 0: nothing of the burst has come
constexpr std::uint64_t reached_after(std::uint32_t begin, std::uint64_t reached,
                                      std::uint32_t end) noexcept {
  const auto furthest = begin + static_cast<std::uint32_t>(reached);
  const std::int32_t beyond = sequence_distance(end, furthest);
  return beyond > 0 ? reached + static_cast<std::uint32_t>(beyond) : reached;
}

}  // namespace outrider
