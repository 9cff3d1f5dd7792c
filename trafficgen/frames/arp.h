#pragma once

#include <cstdint>
#include <optional>

#include "common/dpdk/packet/packet.h"
#include "common/net/arp.h"

namespace outrider::tg {

/// Writes "who has `target`?" into an empty mbuf, padded to the shortest frame.
void write_arp_request(Packet& packet, const MacAddress& sender_mac, std::uint32_t sender,
                       std::uint32_t target) noexcept;

/// Returns the ARP packet of a frame, which lies in the frame's buffer. Returns nothing if the
/// frame is no ARP packet, is truncated, or is not for IPv4 over Ethernet.
ArpPacket* arp_of(Packet& packet) noexcept;

/// Turns a request, in place, into the answer that `mac` has the requested address.
void answer_arp(Packet& packet, ArpPacket& arp, const MacAddress& mac) noexcept;

/// Turns an ICMP echo request (RFC 792) into its reply, in place: addresses are swapped, the
/// checksum is updated, and the payload stays.
/// @return false, and nothing changed, if the frame is no echo request, is a fragment, has options,
///   or contradicts its lengths or checksums
bool answer_echo(Packet& packet) noexcept;

}  // namespace outrider::tg
