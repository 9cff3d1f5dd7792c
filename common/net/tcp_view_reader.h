#pragma once

#include <cstdint>
#include <span>

#include "common/core/flow_key.h"
#include "common/core/tcp_view.h"

namespace outrider {

/// Reads the fields of a passing TCP segment that a switch needs. Options behind one of
/// impossible length are ignored.
/// @param header the whole TCP header with its options; lengths were checked
/// @param frame_bytes of the frame on the wire, as the queue counts it
[[nodiscard]] TcpView read_tcp_view(std::span<const std::uint8_t> header, const FlowKey& flow,
                                    std::uint16_t payload_bytes,
                                    std::uint32_t frame_bytes) noexcept;

}  // namespace outrider
