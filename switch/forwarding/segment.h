#pragma once

#include <cstdint>

#include "common/dpdk/packet/packet.h"
#include "common/net/headers.h"
#include "switch/forwarding/header_rewrite.h"
#include "switch/forwarding/identify.h"
#include "switch/forwarding/tcp_view_reader.h"

namespace outrider::sw {

// Reads passing TCP segments for held windows. Nearly all segments are of open connections:
// what is asked of these is known without their options, and partly without their flags. For every
// function: @pre parse() has read the packet, and it is TCP

/// Reads the whole header, options included.
[[nodiscard]] inline TcpView view_of(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  const auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  return read_tcp_view(buffer(packet).subspan(m.tcp_offset, tcp.header_bytes()), m.flow,
                       m.payload_bytes, m.frame_bytes);
}

[[nodiscard]] inline bool neither_opens_nor_ends(const PacketMeta& m) noexcept {
  return (m.tcp_flags & (kTcpSyn | kTcpFin | kTcpRst)) == 0;
}

/// Returns what is known of data without looking at its bytes. @pre neither_opens_nor_ends()
[[nodiscard]] inline TcpView open_data_of(const PacketMeta& m) noexcept {
  return {.flow = m.flow,
          .sequence = m.sequence,
          .payload_bytes = m.payload_bytes,
          .frame_bytes = m.frame_bytes};
}

/// Returns whether an answer acknowledges and has no options, or only timestamps as most senders
/// write them (RFC 7323, appendix A).
[[nodiscard]] inline bool only_acknowledges(Packet& packet) noexcept {
  constexpr std::uint32_t kTimestampsAlone = 0x0101'080A, kTheirBytes = 12;
  const PacketMeta& m = meta(packet);
  if ((m.tcp_flags & (kTcpSyn | kTcpRst | kTcpAck)) != kTcpAck) return false;
  const auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  if (tcp.header_bytes() == sizeof(TcpHeader)) return true;
  return tcp.header_bytes() == sizeof(TcpHeader) + kTheirBytes &&
         reinterpret_cast<const Be32*>(&tcp + 1)->get() == kTimestampsAlone;
}

/// @pre only_acknowledges()
[[nodiscard]] inline TcpView plain_answer_of(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  const auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  return {.flow = m.flow,
          .sequence = m.sequence,
          .acknowledgment = tcp.acknowledgment.get(),
          .window = tcp.window.get(),
          .payload_bytes = m.payload_bytes,
          .frame_bytes = m.frame_bytes,
          .ack = true};
}

[[nodiscard]] inline bool acknowledges(const PacketMeta& m) noexcept {
  return (m.tcp_flags & kTcpAck) != 0;
}
/// @pre acknowledges()
[[nodiscard]] inline std::uint32_t acknowledgment_of(Packet& packet) noexcept {
  return header_at<TcpHeader>(packet, meta(packet).tcp_offset).acknowledgment.get();
}

/// Rewrites the window field, without scaling, as it appears on the wire.
inline void set_window(Packet& packet, std::uint16_t window) noexcept {
  set_window(header_at<TcpHeader>(packet, meta(packet).tcp_offset), window);
}

}  // namespace outrider::sw
