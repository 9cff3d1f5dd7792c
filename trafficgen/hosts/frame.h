#pragma once

#include <cstdint>
#include <optional>

#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "common/dpdk/packet.h"
#include "common/net/tcp_segment.h"

namespace outrider::tg {

/// A received frame as its host reads it.
struct ReceivedFrame {
  FlowKey flow;  ///< as the sender wrote it
  std::uint8_t tos = 0;
  TcpSegment segment;
};

/// Locally administered address that follows from the IPv4 address, so that no
/// ARP is needed between emulated hosts.
MacAddress mac_of(std::uint32_t address) noexcept;

/// Writes Ethernet, IPv4 and TCP into an empty mbuf. The payload is zeros: the
/// buffer already holds them (`full_payload`) or does not hold the payload at all.
/// @param tos the whole byte, ECN included
void write_frame(Packet& packet, const FlowKey& flow, std::uint8_t tos, const TcpSegment& segment,
                 bool full_payload) noexcept;

/// The flow that a frame claims to be of, unchecked: for prefetching only.
/// @return nothing if it is no IPv4 with TCP behind a plain header
[[nodiscard]] std::optional<FlowKey> peek_flow(Packet& packet) noexcept;

/// Reads a frame and checks lengths and checksums.
/// @param frame newly initialised; of no use if the packet must be dropped
/// @return why it must be dropped, nothing if it need not
[[nodiscard]] std::optional<DropReason> read_frame(Packet& packet, ReceivedFrame& frame) noexcept;

}  // namespace outrider::tg
