#include "switch/egress/queue_window.h"

#include "switch/forwarding/header_rewrite.h"
#include "switch/forwarding/tcp_view_reader.h"

namespace outrider::sw {
namespace {

TcpView tcp_view_of(Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  const auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  return read_tcp_view(buffer(packet).subspan(m.tcp_offset, tcp.header_bytes()), m.flow,
                       m.payload_bytes, m.frame_bytes);
}

// Nearly all segments are of open connections. What the clamp reads of them is known without
// their options, and partly without their flags, so its code for them is compiled apart.

bool neither_opens_nor_ends(const PacketMeta& data) noexcept {
  return (data.tcp_flags & (kTcpSyn | kTcpFin | kTcpRst)) == 0;
}

TcpView open_data_of(const PacketMeta& m) noexcept {
  return {.flow = m.flow,
          .sequence = m.sequence,
          .payload_bytes = m.payload_bytes,
          .frame_bytes = m.frame_bytes};
}

/// Returns whether an answer acknowledges and has no options, or only timestamps as most
/// senders write them (RFC 7323, appendix A).
bool only_acknowledges(const PacketMeta& m, const TcpHeader& tcp) noexcept {
  constexpr std::uint32_t kTimestampsAlone = 0x0101'080A, kTheirBytes = 12;
  if ((m.tcp_flags & (kTcpSyn | kTcpRst | kTcpAck)) != kTcpAck) return false;
  if (tcp.header_bytes() == sizeof(TcpHeader)) return true;
  return tcp.header_bytes() == sizeof(TcpHeader) + kTheirBytes &&
         reinterpret_cast<const Be32*>(&tcp + 1)->get() == kTimestampsAlone;
}

TcpView plain_answer_of(const PacketMeta& m, const TcpHeader& tcp) noexcept {
  return {.flow = m.flow,
          .sequence = m.sequence,
          .acknowledgment = tcp.acknowledgment.get(),
          .window = tcp.window.get(),
          .payload_bytes = m.payload_bytes,
          .frame_bytes = m.frame_bytes,
          .ack = true};
}

}  // namespace

QueueWindow::QueueWindow(const WindowPolicy& policy, std::uint32_t max_bursts, BitRate drain_rate,
                         RateLayer layer, WindowClamp::Place place)
    : overhead_bytes_(layer == RateLayer::kL1 ? kL1OverheadBytes : 0),
      clamp_(policy, drain_rate, overhead_bytes_, max_bursts, place) {}

WindowTreatment QueueWindow::on_arrival(Packet& packet, Occupancy waiting,
                                        const std::optional<std::uint16_t>& threshold,
                                        Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.tcp_offset == 0) return WindowTreatment::kFallback;
  const auto queue = view_of(waiting, threshold);
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
  auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  if (m.traffic_class == TrafficClass::kBackground) {
    const auto queue = view_of(waiting, threshold);
    WindowFlow* f = only_acknowledges(m, tcp) ? clamp_.open_flow(m.flow.reversed()) : nullptr;
    const auto field = f != nullptr ? clamp_.on_open_answer(*f, plain_answer_of(m, tcp), queue, now)
                                    : on_other_answer(packet, queue, now);
    if (field) set_window(tcp, *field);
  } else if ((m.tcp_flags & kTcpAck) != 0) {
    clamp_.on_burst_ack(m.flow.reversed(), tcp.acknowledgment.get());
  }
}

WindowTreatment QueueWindow::on_other_data(Packet& packet, const WindowClamp::Queue& queue,
                                           Time now) noexcept {
  return clamp_.on_data(tcp_view_of(packet), queue, now);
}

std::optional<std::uint16_t> QueueWindow::on_other_answer(Packet& packet,
                                                          const WindowClamp::Queue& queue,
                                                          Time now) noexcept {
  return clamp_.on_answer(tcp_view_of(packet), queue, now);
}

}  // namespace outrider::sw
