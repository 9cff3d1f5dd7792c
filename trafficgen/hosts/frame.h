#pragma once

#include <cstdint>
#include <optional>

#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "common/dpdk/packet.h"
#include "common/net/tcp_segment.h"

namespace outrider::tg {

/// A received frame in the form that its host reads.
struct ReceivedFrame {
  FlowKey flow;  ///< in the sender's direction
  std::uint8_t tos = 0;
  TcpSegment segment;
};

/// Returns a locally administered address derived from the IPv4 address, so that emulated hosts
/// need no ARP.
MacAddress mac_of(std::uint32_t address) noexcept;

/// Writes Ethernet, IPv4 and TCP headers into an empty mbuf. The payload is zeros, which are
/// already in the buffer (`full_payload`) or are not in the buffer at all.
/// @param tos the whole byte, ECN included
void write_frame(Packet& packet, const FlowKey& flow, std::uint8_t tos, const TcpSegment& segment,
                 bool full_payload) noexcept;

/// Returns the flow in a frame's headers, unchecked: for prefetching only.
/// @return nothing if the frame is not IPv4 with TCP after a header without options
[[nodiscard]] std::optional<FlowKey> peek_flow(Packet& packet) noexcept;

/// Reads a frame and checks lengths and checksums.
/// @param frame newly initialised; invalid if the packet must be dropped
/// @return the reason for which the packet must be dropped, nothing if it need not be
[[nodiscard]] std::optional<DropReason> read_frame(Packet& packet, ReceivedFrame& frame) noexcept;

}  // namespace outrider::tg
