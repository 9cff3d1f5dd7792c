#pragma once

#include "common/net/arp.h"

namespace outrider::sw {

/// Turns an ARP request into its reply, in place (RFC 826, "Packet Reception").
/// @param ethernet,arp of the same frame. @param own  MAC address that was asked for
inline void make_arp_reply(EthernetHeader& ethernet, ArpPacket& arp,
                           const MacAddress& own) noexcept {
  ethernet.destination = arp.sender_mac;
  ethernet.source = own;
  const Be32 asked_for = arp.target_address;
  arp.operation.set(ArpPacket::kReply);
  arp.target_mac = arp.sender_mac;
  arp.target_address = arp.sender_address;
  arp.sender_mac = own;
  arp.sender_address = asked_for;
}

}  // namespace outrider::sw
