#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "common/dpdk/packet/packet.h"
#include "common/net/udp_signal.h"

namespace outrider::tg {

/// A received UDP signal.
struct ReceivedSignal {
  FlowKey datagram;  ///< addresses and UDP ports as the sender wrote them
  udp_signal::Signal signal;
};

/// Writes Ethernet, IPv4 and UDP headers (Not-ECT, checksum set) with the message into an empty
/// mbuf.
/// @param datagram addresses and UDP ports
/// @param dscp < 64
void write_signal_frame(Packet& packet, const FlowKey& datagram, const udp_signal::Signal& signal,
                        std::uint8_t dscp = 0) noexcept;

/// Reads a frame in which read_frame() has found a correct IPv4 header and no TCP. A UDP checksum
/// of zero means that the sender left it out (RFC 768).
/// @param received invalid if the packet must be dropped
/// @return the reason for which the packet must be dropped, nothing if it is a signal:
///   kNoConnection if it is for none of the ports, kMalformed if it is for one but is no signal
[[nodiscard]] std::optional<DropReason> read_signal_frame(Packet& packet,
                                                          std::span<const std::uint16_t> ports,
                                                          ReceivedSignal& received) noexcept;

}  // namespace outrider::tg
