#include "switch/egress/queue_window.h"

#include "common/net/tcp_view_reader.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {
namespace {

TcpView tcp_view_of(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  const auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  return read_tcp_view(buffer(packet).subspan(m.tcp_offset, tcp.header_bytes()), m.flow,
                       m.payload_bytes, m.frame_bytes);
}

}  // namespace

QueueWindow::QueueWindow(const RegulationPolicy& policy, BitRate drain_rate, RateLayer layer)
    : overhead_bytes_(layer == RateLayer::kL1 ? kL1OverheadBytes : 0),
      clamp_(policy.window, drain_rate, overhead_bytes_, policy.max_entries) {}

WindowTreatment QueueWindow::on_arrival(Packet& packet, Occupancy waiting,
                                        std::optional<std::uint16_t> threshold, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.tcp_offset == 0) return WindowTreatment::kFallback;
  const auto queue = view_of(waiting, threshold);
  if (m.traffic_class == TrafficClass::kBackground)
    return clamp_.on_data(tcp_view_of(packet), queue, now);
  if (m.traffic_class == TrafficClass::kDdl && m.payload_bytes > 0)
    clamp_.on_burst_payload(m.flow, m.sequence, m.payload_bytes, queue, now);
  return WindowTreatment::kFallback;
}

void QueueWindow::on_return(Packet& packet, Occupancy waiting,
                            std::optional<std::uint16_t> threshold, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.tcp_offset == 0) return;
  auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  if (m.traffic_class == TrafficClass::kBackground) {
    const auto field = clamp_.on_answer(tcp_view_of(packet), view_of(waiting, threshold), now);
    if (field) set_window(tcp, *field);
  } else if ((m.tcp_flags & kTcpAck) != 0) {
    clamp_.on_burst_ack(m.flow.reversed(), tcp.acknowledgment.get());
  }
}

}  // namespace outrider::sw
