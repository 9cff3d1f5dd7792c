#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "common/net/checksum.h"
#include "common/net/headers.h"
#include "switch/forwarding/parse_headers.h"

namespace outrider {

/// What parse_headers() returns for every plain segment.
inline constexpr FrameSummary kPlainSegment{
    .kind = FrameKind::kIpv4, .network_offset = sizeof(EthernetHeader), .protocol = kIpProtocolTcp};

/// Reads a frame of the most frequent form: an untagged TCP segment over IPv4 without IPv4
/// options, valid and not a later fragment. Its headers are at fixed offsets, so it takes fewer
/// checks than parse_headers(), which reads the same from it.
///
/// @param buffer,frame_bytes,out  as for parse_headers()
/// @return false if the frame has another form or is invalid: parse_headers() must read it, and
/// `out` is unchanged
template <class Out>
[[nodiscard, gnu::always_inline]] inline bool parse_plain_segment(
    std::span<const std::uint8_t> buffer, std::uint32_t frame_bytes, Out& out) noexcept {
  constexpr std::uint32_t kIp = sizeof(EthernetHeader);
  constexpr std::uint32_t kTcp = kIp + sizeof(Ipv4Header);
  if (buffer.size() < kTcp + sizeof(TcpHeader)) return false;
  // In memory order: EtherType 0x0800, then version 4 and a length of five words, then the TOS.
  constexpr std::uint32_t kForm = 0x45'00'08, kFormMask = 0xFF'FF'FF;
  std::uint32_t form;
  std::memcpy(&form, buffer.data() + kIp - 2, sizeof form);
  if ((form & kFormMask) != kForm) return false;
  const auto& ip = *reinterpret_cast<const Ipv4Header*>(buffer.data() + kIp);
  const auto& tcp = *reinterpret_cast<const TcpHeader*>(buffer.data() + kTcp);
  constexpr std::uint16_t kFragmentOffsetMask = 0x1FFF;
  if (ip.protocol != kIpProtocolTcp || (ip.fragment.get() & kFragmentOffsetMask) != 0) return false;
  const std::uint32_t tcp_bytes = tcp.header_bytes();
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (tcp_bytes < sizeof(TcpHeader) || kTcp + tcp_bytes > buffer.size() ||
      sizeof(Ipv4Header) + tcp_bytes > ip_bytes || kIp + ip_bytes > frame_bytes)
    return false;
  // As in parse_headers(); 64-bit words need fewer additions.
  std::uint64_t words[2];
  std::uint32_t last;
  std::memcpy(words, &ip, sizeof words);
  std::memcpy(&last, &ip.destination, sizeof last);
  const std::uint64_t sum = (words[0] & 0xFFFFFFFF) + (words[0] >> 32) + (words[1] & 0xFFFFFFFF) +
                            (words[1] >> 32) + last;
  if (sum % 0xFFFF != 0) return false;
  out.ip_offset = kIp;
  out.tcp_offset = kTcp;
  out.tos = static_cast<std::uint8_t>(form >> 24);
  out.payload_bytes = static_cast<std::uint16_t>(ip_bytes - sizeof(Ipv4Header) - tcp_bytes);
  out.flow.source_address = ip.source.get();
  out.flow.destination_address = ip.destination.get();
  out.flow.source_port = tcp.source_port.get();
  out.flow.destination_port = tcp.destination_port.get();
  out.sequence = tcp.sequence.get();
  out.tcp_flags = tcp.flags;
  return true;
}

}  // namespace outrider
