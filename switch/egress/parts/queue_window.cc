#include "switch/egress/parts/queue_window.h"

#include "switch/forwarding/segment.h"

namespace outrider::sw {

QueueWindow::QueueWindow(const WindowPolicy& policy, std::uint32_t max_bursts, BitRate drain_rate,
                         RateLayer layer, WindowClamp::Bottleneck bottleneck)
    : overhead_bytes_(layer == RateLayer::kL1 ? kL1OverheadBytes : 0),
      clamp_(policy, drain_rate, overhead_bytes_, max_bursts, bottleneck) {}

WindowTreatment QueueWindow::on_arrival(Packet& packet, Occupancy waiting,
                                        const std::optional<std::uint16_t>& threshold,
                                        Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.tcp_offset == 0) return WindowTreatment::kFallback;
  const auto queue = queue_of(waiting, threshold);
  if (m.traffic_class == TrafficClass::kBackground) {
    WindowFlow* f = neither_opens_nor_ends(m) ? clamp_.open_flow(m.flow) : nullptr;
    if (f != nullptr) [[likely]]
      return clamp_.on_open_data(*f, open_data_of(m), queue, now);
    return on_other_data(packet, queue, now);
  }
  if (m.traffic_class == TrafficClass::kDdl && m.payload_bytes > 0)
    clamp_.on_burst_payload(m.flow, m.sequence, m.payload_bytes, queue, now);
  return WindowTreatment::kFallback;
}

void QueueWindow::on_return(Packet& packet, Occupancy waiting,
                            const std::optional<std::uint16_t>& threshold, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.tcp_offset == 0) return;
  if (m.traffic_class == TrafficClass::kBackground) {
    const auto queue = queue_of(waiting, threshold);
    WindowFlow* f = only_acknowledges(packet) ? clamp_.open_flow(m.flow.reversed()) : nullptr;
    const auto field = f != nullptr ? clamp_.on_open_answer(*f, plain_answer_of(packet), queue, now)
                                    : on_other_answer(packet, queue, now);
    if (field) set_window(packet, *field);
  } else if (acknowledges(m)) {
    clamp_.on_burst_ack(m.flow.reversed(), acknowledgment_of(packet));
  }
}

WindowTreatment QueueWindow::on_other_data(Packet& packet, const WindowClamp::Queue& queue,
                                           Time now) noexcept {
  return clamp_.on_data(view_of(packet), queue, now);
}

std::optional<std::uint16_t> QueueWindow::on_other_answer(Packet& packet,
                                                          const WindowClamp::Queue& queue,
                                                          Time now) noexcept {
  return clamp_.on_answer(view_of(packet), queue, now);
}

}  // namespace outrider::sw
