#pragma once

#include <cstdint>
#include <span>

#include "common/core/clock.h"
#include "common/core/config_issue.h"
#include "common/core/units.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Returns the frame bytes that a link may still bring after the packet with which XOFF is reached:
/// while the port finishes a frame and sends the pause, for two delays of the link, and while the
/// neighbour finishes a frame. See docs/pfc.md.
/// @param frame_bytes  of the largest frame
std::uint64_t headroom_needed_bytes(BitRate rate, Duration delay, std::uint32_t frame_bytes);

/// Returns what makes lossless classes (PFC) of the cases lose packets: hosts that obey no pauses,
/// and headroom that does not hold what a link brings, of the link that lacks most in any of them.
ConfigIssues lossless_advice(std::span<const Case> cases);

}  // namespace outrider::lab
