#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::lab {

/// Returns a step marker's K where nobody has set one: RTT x C / sqrt(3), which the PCN paper takes
/// for DCTCP, at least 10 full frames and at most the buffer.
std::uint64_t usual_mark_bytes(BitRate rate, Duration rtt, std::uint64_t buffer_bytes);

/// Returns the nearest smaller threshold that a START can carry, at least the smallest.
std::uint64_t announced_h(std::uint64_t packets);

/// Returns the full frames that fit, at least one.
std::uint64_t frames_of(std::uint64_t bytes);

}  // namespace outrider::lab
