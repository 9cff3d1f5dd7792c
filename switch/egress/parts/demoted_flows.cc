#include "switch/egress/parts/demoted_flows.h"

namespace outrider::sw {

/// Of what is not TCP every byte of the frame counts: its length alone tells how much it is.
void DemotedFlows::choose(Packet& packet, Time now) noexcept {
  PacketMeta& m = meta(packet);
  const std::uint32_t bytes = m.tcp_offset != 0 ? m.payload_bytes : m.frame_bytes;
  if (demotion_.goes_early(m.flow, bytes, own_, now)) m.queue = to_;
}

}  // namespace outrider::sw
