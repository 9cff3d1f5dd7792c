#pragma once

#include <cstdint>

#include "common/net/burst_option.h"

namespace outrider::tg {

// Bounds that several rows and rules of the generator's file use.

inline constexpr std::uint64_t kMinHostMtuBytes = 576;  ///< RFC 791: every host must accept it
inline constexpr std::uint64_t kMaxHostMtuBytes = 9000;
/// IPv4, TCP and our option: the headers of a segment.
inline constexpr std::uint64_t kSegmentHeaderBytes = 20 + 20 + kBurstOptionBytes;
inline constexpr std::uint64_t kMaxFlowsPerPair = 10'000;  ///< well within ephemeral ports

}  // namespace outrider::tg
