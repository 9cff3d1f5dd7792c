#include "switch/egress/parts/steered_bursts.h"

namespace outrider::sw {

/// The regulator follows the payload of bursts here, of whichever class.
void SteeredBursts::choose(Packet& packet, Time now) noexcept {
  locate(packet);
  PacketMeta& m = meta(packet);
  const bool of_burst = own_.regulation().regulator().standing_of(m.flow, m.sequence, now) ==
                        Regulator::Standing::kOfBurst;
  const bool moves = steering_.moves(m.flow, of_burst, own_.fifo(), target_);
  if (of_burst && m.payload_bytes > 0) own_.regulation().on_payload(m, now);
  if (!moves) return;
  m.queue = to_;
  m.traffic_class = TrafficClass::kDdl;
}

void SteeredBursts::on_armed(const StartSignal& start, Time now) noexcept {
  steering_.follow(start.flow, own_.fifo(), target_, [this, now](const FlowKey& other) {
    return own_.regulation().regulator().standing_of(other, 0, now) != Regulator::Standing::kNone;
  });
}

}  // namespace outrider::sw
