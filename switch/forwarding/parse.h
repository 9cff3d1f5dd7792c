#pragma once

#include <cstdint>
#include <optional>

#include "common/dpdk/packet/packet.h"
#include "common/net/arp.h"
#include "switch/forwarding/parse_headers.h"

namespace outrider::sw {

/// Reads and checks a packet's headers into its metadata, see parse_headers(). The fields that
/// the switch decides itself (class, queue, identity) stay as they are.
[[nodiscard]] inline FrameSummary parse(Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  return parse_headers(buffer(packet), m.frame_bytes, m);
}

/// Returns the IPv4 source address of a frame that parse() has not read yet, or nothing if the
/// frame is invalid or neither IPv4 nor ARP.
inline std::optional<std::uint32_t> source_address_of(Packet& packet) noexcept {
  const auto bytes = buffer(packet);
  if (bytes.size() < sizeof(EthernetHeader) + sizeof(Ipv4Header)) return std::nullopt;
  if (header_at<EthernetHeader>(packet, 0).ether_type.get() == kEtherTypeIpv4) [[likely]]
    return header_at<Ipv4Header>(packet, sizeof(EthernetHeader)).source.get();
  HeaderFields fields;
  const FrameSummary summary = parse_headers(bytes, meta(packet).frame_bytes, fields);
  const bool has_one = summary.kind == FrameKind::kIpv4 || summary.kind == FrameKind::kArp;
  return has_one ? std::optional(fields.flow.source_address) : std::nullopt;
}

}  // namespace outrider::sw
