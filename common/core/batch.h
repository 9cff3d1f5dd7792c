#pragma once

#include <cstdint>

namespace outrider {

/// Most packets that one call to a device moves.
inline constexpr std::uint16_t kBatchPackets = 32;

}  // namespace outrider
