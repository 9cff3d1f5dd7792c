#pragma once

#include <cstdint>

#include "common/net/burst_option.h"

namespace outrider::tg {

// Bounds that rows and rules of the generator's file share.

inline constexpr std::uint64_t kMinHostMtuBytes = 576;  ///< RFC 791: every host must take it
inline constexpr std::uint64_t kMaxHostMtuBytes = 9000;
/// IPv4, TCP and our option: what a segment has beside its payload.
inline constexpr std::uint64_t kSegmentHeaderBytes = 20 + 20 + kBurstOptionBytes;
inline constexpr std::uint64_t kMaxFlowsPerPair = 10'000;  ///< well within ephemeral ports

}  // namespace outrider::tg
