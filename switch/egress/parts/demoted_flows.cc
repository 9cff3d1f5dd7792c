#include "switch/egress/parts/demoted_flows.h"

namespace outrider::sw {

namespace {
/// The longest frame of RoCEv2 without payload: a CNP, with a VLAN tag and over IPv6.
constexpr std::uint32_t kMostWithoutPayload = 98;
}  // namespace

/// The payload of a packet that is not TCP is judged by the length of its frame.
void DemotedFlows::choose(Packet& packet, Time now) noexcept {
  PacketMeta& m = meta(packet);
  const std::uint32_t other = m.frame_bytes > kMostWithoutPayload ? m.frame_bytes : 0;
  const std::uint32_t bytes = m.tcp_offset != 0 ? m.payload_bytes : other;
  if (demotion_.goes_early(m.flow, bytes, own_, now)) m.queue = to_;
}

}  // namespace outrider::sw
