#pragma once

#include <cstdint>

#include "switch/aqm/mark_verdict.h"

namespace outrider {

/// Marks when the instantaneous occupancy has reached the threshold, the simplest form of ECN
/// marking (DCTCP, RFC 8257 section 4; the PCN paper's figure 8). The caller must not set CE
/// on Not-ECT packets (RFC 3168).
///
/// @param occupancy_packets waiting packets, without this one and the one in service
constexpr MarkVerdict judge_step(std::uint32_t occupancy_packets,
                                 std::uint32_t threshold_packets) noexcept {
  return occupancy_packets >= threshold_packets ? MarkVerdict::kMark : MarkVerdict::kPass;
}

}  // namespace outrider
