#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/core/ipv6_address.h"
#include "tests/support/frames.h"

namespace outrider {

/// Parses an address such as "2001:db8::1" with the C library. @throws std::invalid_argument
Ipv6Address ip6(std::string_view text);

/// An IPv6 frame as a test describes it. ipv6_bytes_of() writes it byte by byte from the RFCs.
struct Ipv6FrameSpec {
  Ipv6Address source = ip6("2001:db8::1");
  Ipv6Address destination = ip6("2001:db8:3::1");
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint8_t protocol = kIpProtocolTcp;  ///< after the extension headers
  std::uint16_t source_port = 40'000;
  std::uint16_t destination_port = 5000;
  std::uint32_t sequence = 0;
  std::uint8_t tcp_flags = kTcpAck;
  std::uint16_t payload_bytes = 0;
  /// Types of extension headers, in order; each is 8 bytes long. A fragment header belongs to
  /// the first fragment unless fragment_offset is set.
  std::vector<std::uint8_t> extensions{};
  std::uint16_t fragment_offset = 0;  ///< in units of 8 bytes
};

/// Returns the whole frame, of at least 60 bytes. The transport checksum is zero.
std::vector<std::uint8_t> ipv6_bytes_of(const Ipv6FrameSpec& spec);

/// Returns `frame` with an 802.1Q tag after its MAC addresses.
std::vector<std::uint8_t> tagged(const std::vector<std::uint8_t>& frame, std::uint16_t control,
                                 std::uint16_t ether_type = kEtherTypeVlan);

/// Returns an ARP request of `sender` for `target`, from the MAC address of an emulated host.
std::vector<std::uint8_t> arp_request(std::uint32_t sender, std::uint32_t target);

}  // namespace outrider
