#pragma once

#include <cstdint>
#include <span>

#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "common/net/checksum.h"
#include "common/net/headers.h"

namespace outrider {

enum class FrameKind : std::uint8_t {
  kOther,  ///< none of these: has MAC addresses only
  kIpv4,
  kIpv6,
  kArp,      ///< between IPv4 hosts (RFC 826)
  kRefused,  ///< FrameSummary::refused says why
};

/// The kind of a frame, in one register. Its fields go to the caller's struct.
struct FrameSummary {
  FrameKind kind = FrameKind::kOther;
  DropReason refused{};             ///< if kRefused
  std::uint8_t network_offset = 0;  ///< of the IP or ARP header
  std::uint8_t protocol = 0;        ///< IP: of the last header read; otherwise 0
  std::uint16_t vlan_control = 0;   ///< of the outer tag, see VlanTag
  bool vlan_tagged = false;

  [[nodiscard]] bool is_ip() const noexcept {
    return kind == FrameKind::kIpv4 || kind == FrameKind::kIpv6;
  }
  /// Returns whether it is IP or ARP: one comparison.
  [[nodiscard]] bool is_network() const noexcept {
    return kind > FrameKind::kOther && kind < FrameKind::kRefused;
  }
};
static_assert(sizeof(FrameSummary) <= 8);

/// Fields of the headers, in host byte order. A caller's own struct with these names may
/// replace it: parse_headers() is generic in it.
struct HeaderFields {
  FlowKey flow{};                   ///< ports of TCP and UDP, else 0; ARP: sender and target;
                                    ///< IPv6: fold_ipv6() of the addresses
  std::uint32_t sequence = 0;       ///< TCP sequence number
  std::uint16_t payload_bytes = 0;  ///< TCP payload on the wire
  std::uint8_t ip_offset = 0;       ///< 0: not IP
  std::uint8_t tcp_offset = 0;      ///< 0: not TCP
  std::uint8_t tcp_flags = 0;       ///< bits of TcpFlag
  std::uint8_t tos = 0;             ///< IPv6: traffic class
};

inline constexpr std::uint32_t kMaxVlanTags = 2;        ///< an S-tag and a C-tag
inline constexpr std::uint32_t kMaxIpv6Extensions = 8;  ///< headers that are read

namespace detail {

/// A frame that is being read.
struct FrameBytes {
  std::span<const std::uint8_t> buffer;
  std::uint32_t frame_bytes = 0;

  template <class Header>
  [[nodiscard]] const Header& at(std::uint32_t offset) const noexcept {
    return *reinterpret_cast<const Header*>(buffer.data() + offset);
  }
  [[nodiscard]] bool holds(std::uint32_t offset, std::uint32_t bytes) const noexcept {
    return offset + bytes <= buffer.size();
  }
};

constexpr FrameSummary refuse(DropReason why) noexcept {
  return {.kind = FrameKind::kRefused, .refused = why};
}

/// Parses everything but an untagged IPv4 frame. Out of line, to keep the common path short.
FrameSummary parse_uncommon(FrameBytes frame, HeaderFields& out) noexcept;

/// Reads the header after the IP header: ports, and TCP's sequence, flags and payload.
/// @param l4_bytes its length by the IP header. @return false if it is malformed
template <class Out>
[[nodiscard, gnu::always_inline]] inline bool parse_transport(const FrameBytes& frame,
                                                              std::uint8_t protocol,
                                                              std::uint32_t offset,
                                                              std::uint32_t l4_bytes,
                                                              Out& out) noexcept {
  if (protocol == kIpProtocolTcp) [[likely]] {
    if (l4_bytes < sizeof(TcpHeader) || !frame.holds(offset, sizeof(TcpHeader))) return false;
    const auto& tcp = frame.at<TcpHeader>(offset);
    const std::uint32_t header = tcp.header_bytes();
    if (header < sizeof(TcpHeader) || header > l4_bytes || !frame.holds(offset, header))
      return false;
    out.tcp_offset = static_cast<std::uint8_t>(offset);
    out.payload_bytes = static_cast<std::uint16_t>(l4_bytes - header);
    out.flow.source_port = tcp.source_port.get();
    out.flow.destination_port = tcp.destination_port.get();
    out.sequence = tcp.sequence.get();
    out.tcp_flags = tcp.flags;
    return true;
  }
  out.tcp_offset = 0;
  out.payload_bytes = 0;
  out.sequence = 0;
  out.tcp_flags = 0;
  out.flow.source_port = 0;
  out.flow.destination_port = 0;
  if (protocol != kIpProtocolUdp) return true;
  if (l4_bytes < sizeof(UdpHeader) || !frame.holds(offset, sizeof(UdpHeader))) return false;
  const auto& udp = frame.at<UdpHeader>(offset);
  out.flow.source_port = udp.source_port.get();
  out.flow.destination_port = udp.destination_port.get();
  return true;
}

/// Parses an IPv4 packet. @param offset of its header. @pre the EtherType says IPv4
template <class Out>
[[nodiscard, gnu::always_inline]] inline FrameSummary parse_ipv4(const FrameBytes& frame,
                                                                 std::uint32_t offset,
                                                                 Out& out) noexcept {
  if (!frame.holds(offset, sizeof(Ipv4Header))) return refuse(DropReason::kMalformed);
  const auto& ip = frame.at<Ipv4Header>(offset);
  if ((ip.version_and_length >> 4) != 4) return refuse(DropReason::kNotIpv4);
  const std::uint32_t header = ip.header_bytes();
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (header < sizeof(Ipv4Header) || ip_bytes < header || offset + ip_bytes > frame.frame_bytes ||
      !frame.holds(offset, header))
    return refuse(DropReason::kMalformed);
  // A one's complement sum is valid if it is a non-zero multiple of 0xFFFF. The version makes
  // it non-zero, so one multiplication replaces the folding.
  if (ipv4_header_sum(ip) % 0xFFFF != 0) return refuse(DropReason::kBadChecksum);
  out.ip_offset = static_cast<std::uint8_t>(offset);
  out.tos = ip.tos;
  out.flow.source_address = ip.source.get();
  out.flow.destination_address = ip.destination.get();
  constexpr std::uint16_t kFragmentOffsetMask = 0x1FFF;  // a later fragment has no ports
  const bool later_fragment = (ip.fragment.get() & kFragmentOffsetMask) != 0;
  if (!parse_transport(frame, later_fragment ? std::uint8_t{0} : ip.protocol, offset + header,
                       ip_bytes - header, out))
    return refuse(DropReason::kMalformed);
  return {.kind = FrameKind::kIpv4,
          .network_offset = static_cast<std::uint8_t>(offset),
          .protocol = ip.protocol};
}

}  // namespace detail

/// Parses and checks Ethernet, up to two 802.1Q tags, IPv4 (RFC 791) or IPv6 with its
/// extension headers (RFC 8200), TCP or UDP; or ARP. Lengths are checked against the
/// frame's length on the wire. Headers must be in the buffer; it never reads beyond it.
///
/// Every field of `out` is written unless the frame is refused.
///
/// | refused | because |
/// |---|---|
/// | kMalformed | truncated, or lengths contradict each other |
/// | kNotIpv4 | the version differs from that of the EtherType |
/// | kBadChecksum | the IPv4 header's checksum is wrong |
/// | kVlanDepth | more than kMaxVlanTags |
/// | kIpv6Extensions | more than kMaxIpv6Extensions, or transport header beyond 255 B |
///
/// @param buffer starts at the Ethernet header; may end before the frame does
/// @param frame_bytes of the frame on the wire
template <class Out>
[[nodiscard]] inline FrameSummary parse_headers(std::span<const std::uint8_t> buffer,
                                                std::uint32_t frame_bytes, Out& out) noexcept {
  const detail::FrameBytes frame{buffer, frame_bytes};
  if (!frame.holds(0, sizeof(EthernetHeader))) [[unlikely]]
    return detail::refuse(DropReason::kMalformed);
  if (frame.at<EthernetHeader>(0).ether_type.get() == kEtherTypeIpv4) [[likely]]
    return detail::parse_ipv4(frame, sizeof(EthernetHeader), out);
  HeaderFields fields;
  const FrameSummary summary = detail::parse_uncommon(frame, fields);
  out.flow = fields.flow;
  out.sequence = fields.sequence;
  out.payload_bytes = fields.payload_bytes;
  out.ip_offset = fields.ip_offset;
  out.tcp_offset = fields.tcp_offset;
  out.tcp_flags = fields.tcp_flags;
  out.tos = fields.tos;
  return summary;
}

/// Returns the six bytes of a MAC address in a frame as a number. @pre two more bytes follow,
/// as they always do before an EtherType
inline std::uint64_t mac_at(const std::uint8_t* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return __builtin_bswap64(word) >> 16;
}

}  // namespace outrider
