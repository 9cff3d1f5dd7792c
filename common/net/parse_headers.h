#pragma once

#include <cstdint>
#include <span>

#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "common/net/checksum.h"
#include "common/net/headers.h"

namespace outrider {

enum class FrameKind : std::uint8_t {
  kOther,  ///< neither of these: has MAC addresses alone
  kIpv4,
  kIpv6,
  kArp,      ///< between IPv4 hosts (RFC 826)
  kRefused,  ///< FrameSummary::refused says why
};

/// What a frame is, in one register; its fields go where the caller wants them.
struct FrameSummary {
  FrameKind kind = FrameKind::kOther;
  DropReason refused{};             ///< of kRefused
  std::uint8_t network_offset = 0;  ///< of the IP or ARP header
  std::uint8_t protocol = 0;        ///< IP: of the last header read; 0 for others
  std::uint16_t vlan_control = 0;   ///< of the outer tag, see VlanTag
  bool vlan_tagged = false;

  [[nodiscard]] bool is_ip() const noexcept {
    return kind == FrameKind::kIpv4 || kind == FrameKind::kIpv6;
  }
};
static_assert(sizeof(FrameSummary) <= 8);

/// What the headers say, host byte order. A caller's own struct may stand for it, with
/// these names: parse_headers() is generic in it.
struct HeaderFields {
  FlowKey flow{};                   ///< ports of TCP and UDP, else 0; ARP: sender and target;
                                    ///< IPv6: fold_ipv6() of the addresses
  std::uint32_t sequence = 0;       ///< TCP
  std::uint16_t payload_bytes = 0;  ///< TCP payload on the wire
  std::uint8_t ip_offset = 0;       ///< 0: not IP
  std::uint8_t tcp_offset = 0;      ///< 0: not TCP
  std::uint8_t tcp_flags = 0;       ///< TcpFlag
  std::uint8_t tos = 0;             ///< IPv6: traffic class
};

inline constexpr std::uint32_t kMaxVlanTags = 2;        ///< an S-tag and a C-tag
inline constexpr std::uint32_t kMaxIpv6Extensions = 8;  ///< headers that are walked

namespace detail {

/// A frame while it is read.
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

/// Everything but an untagged IPv4 frame; out of line, it would only be in the way.
FrameSummary parse_uncommon(FrameBytes frame, HeaderFields& out) noexcept;

/// Reads what follows the IP header: ports, and TCP's sequence, flags and payload.
/// @param l4_bytes of it by the IP header's length. @return false if it is malformed
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

/// @param offset of the IPv4 header. @pre the EtherType says IPv4
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
  // A one's complement sum is 0xFFFF if it is a multiple of that and not zero, which the
  // version rules out: one multiplication in place of the folding.
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

/// Reads and checks Ethernet, up to two 802.1Q tags, IPv4 (RFC 791) or IPv6 with its
/// extension headers (RFC 8200), TCP or UDP; or ARP. Lengths are checked against the
/// frame's length on the wire; headers must be in the buffer. Never reads beyond it.
///
/// Every field of `out` is written unless the frame is refused.
///
/// | refused | because |
/// |---|---|
/// | kMalformed | truncated, or lengths contradict each other |
/// | kNotIpv4 | the version is not that of the EtherType |
/// | kBadChecksum | IPv4 header |
/// | kVlanDepth | more than kMaxVlanTags |
/// | kIpv6Extensions | more than kMaxIpv6Extensions, or transport beyond 255 B |
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

/// The six bytes of a MAC address as a number, from a frame. @pre there are two more
/// bytes behind them, as there always are before an EtherType
inline std::uint64_t mac_at(const std::uint8_t* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return __builtin_bswap64(word) >> 16;
}

}  // namespace outrider
