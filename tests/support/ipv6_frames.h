#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/core/ipv6_address.h"
#include "tests/support/frames.h"

namespace outrider {

/// "2001:db8::1", by the C library. @throws std::invalid_argument
Ipv6Address ip6(std::string_view text);

/// An IPv6 frame as a test describes it, written byte by byte from the RFCs.
struct Ipv6FrameSpec {
  Ipv6Address source = ip6("2001:db8::1");
  Ipv6Address destination = ip6("2001:db8:3::1");
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint8_t protocol = kIpProtocolTcp;  ///< behind the extension headers
  std::uint16_t source_port = 40'000;
  std::uint16_t destination_port = 5000;
  std::uint32_t sequence = 0;
  std::uint8_t tcp_flags = kTcpAck;
  std::uint16_t payload_bytes = 0;
  /// Types of extension headers of 8 bytes each, in order; a fragment header is of the
  /// first fragment unless its offset says otherwise.
  std::vector<std::uint8_t> extensions{};
  std::uint16_t fragment_offset = 0;  ///< [8 bytes]
};

/// The whole frame, at least 60 bytes. The transport checksum is left zero.
std::vector<std::uint8_t> ipv6_bytes_of(const Ipv6FrameSpec& spec);

/// An 802.1Q tag behind the MAC addresses of `frame`.
std::vector<std::uint8_t> tagged(const std::vector<std::uint8_t>& frame, std::uint16_t control,
                                 std::uint16_t ether_type = kEtherTypeVlan);

/// An ARP request of `sender` for `target`, from the MAC address of an emulated host.
std::vector<std::uint8_t> arp_request(std::uint32_t sender, std::uint32_t target);

}  // namespace outrider
