#pragma once

#include <cstdint>

namespace outrider {

/// The largest number of packets that one call to a device moves.
inline constexpr std::uint16_t kBatchPackets = 32;

}  // namespace outrider
