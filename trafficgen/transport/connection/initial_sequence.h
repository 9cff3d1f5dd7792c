#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "common/core/flow_key.h"
#include "trafficgen/core/siphash.h"

namespace outrider::tg {

/// Returns the initial sequence number of a host's connection with this flow, which nobody without
/// the key can guess.
///
/// Source: RFC 6528, whose F is SipHash here. Deviation: there is no timer M, because a START names
/// the first byte of a burst before the connection is opened. A flow that is opened again begins at
/// the same number, so a peer in TIME-WAIT needs timestamps to accept it at once (RFC 6191).
/// @param flow in this host's direction
[[nodiscard]] inline std::uint32_t initial_sequence_of(const FlowKey& flow,
                                                       const SipKey& key) noexcept {
  static_assert(sizeof(FlowKey) == 12, "without padding");
  return static_cast<std::uint32_t>(
      siphash(std::bit_cast<std::array<std::uint8_t, sizeof(FlowKey)>>(flow), key));
}

/// Returns the key of runs whose results are to depend on the seed alone.
[[nodiscard]] constexpr SipKey sequence_key_of(std::uint64_t seed) noexcept { return {seed, 0}; }

}  // namespace outrider::tg
