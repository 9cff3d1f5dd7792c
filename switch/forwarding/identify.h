#pragma once

#include "common/core/burst_identity.h"
#include "common/dpdk/packet/packet.h"

namespace outrider::sw {

namespace detail {
/// Out of line, because few packets need it.
void read_content(Packet& packet) noexcept;
}  // namespace detail

/// Reads what a packet of DDL data says beyond its addresses and ports, at most once in a switch:
///
/// * TCP: the identity of its burst, if the segment has payload and the option for it. Its place in
///   its stream is known from parse().
/// * A data message of MLT: identity, and place and length of its values.
/// * A WRITE or SEND of RoCEv2: place and length. Its headers have no room for an identity.
///
/// No other function of the switch reads payload of data. A packet of another class is left alone,
/// until it is DDL data. Place and length stand where parse() puts those of TCP: `sequence` and
/// `payload_bytes`.
/// @pre parsed and classified
inline void identify(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.notes.content == Content::kUnread && m.traffic_class == TrafficClass::kDdl)
    detail::read_content(packet);
}

/// Does so for what needs place and length alone: those of TCP are there.
inline void locate(Packet& packet) noexcept {
  if (meta(packet).tcp_offset == 0) identify(packet);
}

/// Returns the burst that a packet names. It lives as long as the packet. @pre identify()
[[nodiscard]] inline const BurstIdentity* burst_of(const Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  return m.notes.content == Content::kBurst ? &m.identity : nullptr;
}

/// Returns whether a packet acknowledges and does nothing else. @pre parsed
[[nodiscard]] inline bool is_bare_ack(const PacketMeta& m) noexcept {
  return m.payload_bytes == 0 && (m.tcp_flags & (kTcpSyn | kTcpFin | kTcpRst | kTcpAck)) == kTcpAck;
}

/// Returns whether a packet is the last of its stream. @pre parsed
[[nodiscard]] inline bool ends_stream(const PacketMeta& m) noexcept {
  return (m.tcp_flags & kTcpFin) != 0;
}

}  // namespace outrider::sw
