#include "switch/egress/parts/fair_windows.h"

#include "switch/forwarding/segment.h"

namespace outrider::sw {
namespace {

bool is_background_tcp(const PacketMeta& m) noexcept {
  return m.tcp_offset != 0 && m.traffic_class == TrafficClass::kBackground;
}

}  // namespace

FairWindows::FairWindows(const PortQueueConfig& config, const SwitchPortConfig& port,
                         const PortQueue& queue)
    : queue_(queue),
      overhead_bytes_(port.rate_layer == RateLayer::kL1 ? kL1OverheadBytes : 0),
      share_(config.regulation.window, port.drain_rate, overhead_bytes_,
             config.regulation.predict.threshold_packets) {}

ArrivalVerdict FairWindows::on_arrival(const Incoming& incoming) noexcept {
  if (!is_background_tcp(meta(incoming.packet))) return {};
  const auto& fifo = queue_.fifo();
  share_.on_data(view_of(incoming.packet),
                 fifo.occupancy_bytes() + std::uint64_t{fifo.occupancy_packets()} * overhead_bytes_,
                 incoming.now);
  return {};
}

bool FairWindows::on_return(Packet& packet, Time now) noexcept {
  if (!is_background_tcp(meta(packet))) return false;
  if (const auto field = share_.on_answer(view_of(packet), now)) set_window(packet, *field);
  return false;
}

}  // namespace outrider::sw
