#pragma once

#include <cstdint>
#include <optional>

#include "common/dpdk/packet.h"
#include "common/net/arp.h"

namespace outrider::tg {

/// Writes "who has `target`?" into an empty mbuf, padded to the shortest frame.
void write_arp_request(Packet& packet, const MacAddress& sender_mac, std::uint32_t sender,
                       std::uint32_t target) noexcept;

/// The ARP packet of a frame; nothing if it is none, is truncated, or is not for
/// IPv4 over Ethernet. It lies in the frame's buffer.
ArpPacket* arp_of(Packet& packet) noexcept;

/// Turns a request into the answer that `mac` has the address asked for, in place.
void answer_arp(Packet& packet, ArpPacket& arp, const MacAddress& mac) noexcept;

/// Turns an ICMP echo request (RFC 792) into its reply, in place: addresses
/// swapped, checksum updated, payload as it came.
/// @return false, and nothing changed, if the frame is none, is a fragment, has
///         options, or does not hold what its lengths and checksums say
bool answer_echo(Packet& packet) noexcept;

}  // namespace outrider::tg
