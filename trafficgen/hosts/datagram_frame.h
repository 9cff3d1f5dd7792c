#pragma once

#include <optional>

#include "common/core/drop_reason.h"
#include "common/dpdk/packet.h"
#include "trafficgen/hosts/datagram_endpoint.h"

namespace outrider::tg {

/// Writes Ethernet, IPv4 and UDP (checksum set) with the datagram into an empty mbuf. Its
/// zeros are there already (`full_payload`) or are not in the buffer at all.
/// @param flow addresses and UDP ports
void write_datagram_frame(Packet& packet, const FlowKey& flow, const OutgoingDatagram& datagram,
                          bool full_payload) noexcept;

/// Reads a frame in which read_frame() has found a sound IPv4 header and no TCP. A UDP
/// checksum of zero is one that the sender left out (RFC 768).
/// @param datagram of no use if the packet must be dropped; refers to the packet's buffer
/// @return why it must be dropped, nothing if it need not: kNoConnection if it is no UDP
[[nodiscard]] std::optional<DropReason> read_datagram_frame(Packet& packet,
                                                            ReceivedDatagram& datagram) noexcept;

}  // namespace outrider::tg
