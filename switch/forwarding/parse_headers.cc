#include "switch/forwarding/parse_headers.h"

#include <algorithm>

#include "common/net/arp.h"

namespace outrider::detail {
namespace {

// IANA "Assigned Internet Protocol Numbers"; formats in RFC 8200, section 4. The authentication
// header (RFC 4302) is none of them: the receiver refuses a packet if anything behind it was
// changed, so it ends the chain as it does in IPv4, and nobody takes what follows for TCP.
constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kRouting = 43;
constexpr std::uint8_t kFragment = 44;
constexpr std::uint8_t kDestinationOptions = 60;
constexpr std::uint8_t kNoTransport = 0;

constexpr std::uint32_t kFragmentBytes = 8;
constexpr std::uint32_t kLargestOffset = 255;  ///< of a transport header: HeaderFields' width

bool is_extension(std::uint8_t protocol) noexcept {
  switch (protocol) {
    case kHopByHop:
    case kRouting:
    case kFragment:
    case kDestinationOptions:
      return true;
    default:
      return false;
  }
}

/// Returns the length of the extension header at `bytes`, of which two bytes are readable.
std::uint32_t extension_bytes(std::uint8_t protocol, const std::uint8_t* bytes) noexcept {
  if (protocol == kFragment) return kFragmentBytes;
  return (bytes[1] + 1U) * 8U;
}

/// The end of the chain of extension headers.
struct Chain {
  std::uint8_t protocol = 0;
  std::uint32_t offset = 0;
  bool later_fragment = false;  ///< no header follows
  DropReason refused{};
  bool ok = true;
};

Chain broken(DropReason why) noexcept { return {.refused = why, .ok = false}; }

/// Follows the chain of extension headers. @param end of the IPv6 packet in the frame
Chain walk_extensions(const FrameBytes& frame, Chain at, std::uint32_t end) noexcept {
  for (std::uint32_t n = 0; is_extension(at.protocol) && !at.later_fragment; ++n) {
    if (n == kMaxIpv6Extensions) return broken(DropReason::kIpv6Extensions);
    if (at.offset + kFragmentBytes > end || !frame.holds(at.offset, kFragmentBytes))
      return broken(DropReason::kMalformed);
    const std::uint8_t* header = frame.buffer.data() + at.offset;
    const std::uint32_t bytes = extension_bytes(at.protocol, header);
    if (at.offset + bytes > end || !frame.holds(at.offset, bytes))
      return broken(DropReason::kMalformed);
    constexpr unsigned kOffsetBits = 0xFFF8;  // RFC 8200, 4.5: 13 bits, then reserved and M
    if (at.protocol == kFragment)
      at.later_fragment = ((std::uint32_t{header[2]} << 8 | header[3]) & kOffsetBits) != 0;
    at.protocol = header[0];
    at.offset += bytes;
  }
  const bool has_ports = at.protocol == kIpProtocolTcp || at.protocol == kIpProtocolUdp;
  if (has_ports && !at.later_fragment && at.offset > kLargestOffset)
    return broken(DropReason::kIpv6Extensions);
  return at;
}

FrameSummary parse_ipv6(const FrameBytes& frame, std::uint32_t offset, HeaderFields& out) noexcept {
  if (!frame.holds(offset, sizeof(Ipv6Header))) return refuse(DropReason::kMalformed);
  const auto& ip = frame.at<Ipv6Header>(offset);
  if ((ip.version_class_label.get() >> 28) != 6) return refuse(DropReason::kNotIpv4);
  const std::uint32_t begin = offset + sizeof(Ipv6Header);
  const std::uint32_t end = begin + ip.payload_length.get();
  if (end > frame.frame_bytes) return refuse(DropReason::kMalformed);
  const Chain chain = walk_extensions(frame, {.protocol = ip.next_header, .offset = begin}, end);
  if (!chain.ok) return refuse(chain.refused);
  out.ip_offset = static_cast<std::uint8_t>(offset);
  out.tos = ip.traffic_class();
  out.flow.source_address = fold_ipv6(ip.source);
  out.flow.destination_address = fold_ipv6(ip.destination);
  if (!parse_transport(frame, chain.later_fragment ? kNoTransport : chain.protocol, chain.offset,
                       end - chain.offset, out))
    return refuse(DropReason::kMalformed);
  return {.kind = FrameKind::kIpv6,
          .network_offset = static_cast<std::uint8_t>(offset),
          .protocol = chain.protocol};
}

FrameSummary parse_arp(const FrameBytes& frame, std::uint32_t offset, HeaderFields& out) noexcept {
  if (!frame.holds(offset, sizeof(ArpPacket))) return refuse(DropReason::kMalformed);
  const auto& arp = frame.at<ArpPacket>(offset);
  if (!arp.is_ipv4_over_ethernet()) return {.kind = FrameKind::kOther};
  out.flow.source_address = arp.sender_address.get();
  out.flow.destination_address = arp.target_address.get();
  return {.kind = FrameKind::kArp, .network_offset = static_cast<std::uint8_t>(offset)};
}

bool is_tag(std::uint16_t ether_type) noexcept {
  return ether_type == kEtherTypeVlan || ether_type == kEtherTypeServiceVlan;
}

}  // namespace

FrameSummary parse_uncommon(FrameBytes frame, HeaderFields& out) noexcept {
  out = {};
  std::uint16_t ether_type = frame.at<EthernetHeader>(0).ether_type.get();
  std::uint32_t offset = sizeof(EthernetHeader);
  std::uint16_t control = 0;
  for (std::uint32_t tags = 0; is_tag(ether_type); ++tags) {
    if (tags == kMaxVlanTags) return refuse(DropReason::kVlanDepth);
    if (!frame.holds(offset, sizeof(VlanTag))) return refuse(DropReason::kMalformed);
    const auto& tag = frame.at<VlanTag>(offset);
    if (tags == 0) control = tag.control.get();
    ether_type = tag.ether_type.get();
    offset += sizeof(VlanTag);
  }
  FrameSummary summary;
  switch (ether_type) {
    case kEtherTypeIpv4:
      summary = parse_ipv4(frame, offset, out);
      break;
    case kEtherTypeIpv6:
      summary = parse_ipv6(frame, offset, out);
      break;
    case kEtherTypeArp:
      summary = parse_arp(frame, offset, out);
      break;
    default:
      break;
  }
  summary.vlan_control = control;
  summary.vlan_tagged = offset != sizeof(EthernetHeader);
  return summary;
}

}  // namespace outrider::detail
