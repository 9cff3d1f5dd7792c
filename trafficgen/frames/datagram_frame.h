#pragma once

#include <optional>

#include "common/core/drop_reason.h"
#include "common/dpdk/packet/packet.h"
#include "trafficgen/frames/datagram.h"

namespace outrider::tg {

/// Writes Ethernet, IPv4 and UDP headers (checksum set) and the datagram into an empty mbuf. Its
/// zeros are already in the buffer (`full_payload`) or are not in the buffer at all, and then an
/// ICRC behind them is not computed. One that is in the buffer stays there until clear_trailer().
/// @param flow addresses and UDP ports
void write_datagram_frame(Packet& packet, const FlowKey& flow, const OutgoingDatagram& datagram,
                          bool full_payload) noexcept;

/// Reads a frame in which read_frame() has found a correct IPv4 header and no TCP. A UDP checksum
/// of zero means that the sender left it out (RFC 768).
/// @param datagram invalid if the packet must be dropped; refers to the packet's buffer
/// @return the reason for which the packet must be dropped, kNoConnection if it is not UDP; nothing
///   if it need not be dropped
[[nodiscard]] std::optional<DropReason> read_datagram_frame(Packet& packet,
                                                            ReceivedDatagram& datagram) noexcept;

}  // namespace outrider::tg
