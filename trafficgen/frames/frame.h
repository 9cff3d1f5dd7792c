#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "common/dpdk/packet/known_headers.h"
#include "common/dpdk/packet/packet.h"
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
/// already in the buffer (`full_payload`) or are not in the buffer at all, in virtual time. Then
/// the receiver need not parse the headers, see known_headers.h.
/// @param tos the whole byte, ECN included
void write_frame(Packet& packet, const FlowKey& flow, std::uint8_t tos, const TcpSegment& segment,
                 bool full_payload) noexcept;

/// Returns the flow in a frame's headers, unchecked: for prefetching only.
/// @return nothing if the frame is not IPv4 with TCP after a header without options
[[nodiscard]] std::optional<FlowKey> peek_flow(Packet& packet) noexcept;

/// Reads a frame and checks lengths and checksums, whether the headers are known or not.
/// @param frame newly initialised; invalid if the packet must be dropped
/// @return the reason for which the packet must be dropped, nothing if it need not be
[[nodiscard]] std::optional<DropReason> read_frame_bytes(Packet& packet,
                                                         ReceivedFrame& frame) noexcept;

/// Reads a frame of known headers. @param frame newly initialised
inline void read_known_frame(Packet& packet, ReceivedFrame& frame) noexcept {
  const PacketMeta& m = meta(packet);
  const auto& ip = header_at<Ipv4Header>(packet, kKnownIpOffset);
  const auto& tcp = header_at<TcpHeader>(packet, kKnownTransportOffset);
  frame.flow = m.flow;
  frame.tos = ip.tos;
  TcpSegment& s = frame.segment;
  s.sequence = m.sequence;
  s.acknowledgment = tcp.acknowledgment.get();
  s.flags = m.tcp_flags;
  s.window = tcp.window.get();
  s.payload_bytes = m.payload_bytes;
  s.ecn = ecn_of(ip.tos);
  if (const std::uint32_t bytes = tcp.header_bytes(); bytes != sizeof tcp) [[unlikely]] {
    constexpr std::uint32_t kOptions = kKnownTransportOffset + sizeof tcp;
    [[maybe_unused]] const bool read =
        detail::read_options(buffer(packet).subspan(kOptions, bytes - sizeof tcp), s);
    assert(read);
  }
}

/// Returns whether the bytes of the packet say the same as `frame`: for assertions and tests.
[[nodiscard]] bool bytes_agree(Packet& packet, const ReceivedFrame& frame) noexcept;

/// Reads a frame. Unless its headers are known, it checks lengths and checksums.
/// @param frame  and the returned reason: as for read_frame_bytes()
[[nodiscard]] inline std::optional<DropReason> read_frame(Packet& packet,
                                                          ReceivedFrame& frame) noexcept {
  if (!knows_segment(packet))
    return knows_roce(packet) ? DropReason::kNoConnection : read_frame_bytes(packet, frame);
  read_known_frame(packet, frame);
  assert(bytes_agree(packet, frame));
  return std::nullopt;
}

}  // namespace outrider::tg
