// Iteration-start signals of a host, in both wire forms: STARTs that its workers send,
// the answers to those that arrive, and who hears them.
#include <algorithm>

#include "trafficgen/hosts/host.h"

namespace outrider::tg {

void Host::send_start(const FlowKey& flow, std::uint32_t sequence, std::uint16_t threshold_packets,
                      Time now) noexcept {
  signals_.push({flow, sequence, {tos_signal::Kind::kStart, threshold_packets}, {}, {}});
  ++counters_.starts_sent;
  settle(now);
}

void Host::send_start(const UdpStart& start, Time now) noexcept {
  const FlowKey& flow = start.flow;
  const udp_signal::Signal message{.kind = udp_signal::Kind::kStart,
                                   .threshold_packets = start.threshold_packets,
                                   .identity = start.identity,
                                   .burst_bytes = start.burst_bytes,
                                   .source_port = flow.source_port,
                                   .destination_port = flow.destination_port,
                                   .sequence = start.sequence,
                                   .counter = ++counters_.starts_sent};
  const FlowKey datagram{flow.source_address, flow.destination_address, start.port, start.port};
  signals_.push({datagram, 0, {}, message, start.due_at});
  settle(now);
}

void Host::take_signals_at(std::uint16_t udp_port) {
  if (std::ranges::find(signal_ports_, udp_port) == signal_ports_.end())
    signal_ports_.push_back(udp_port);
}

void Host::hear_acks(const FlowKey& flow, SignalListener& listener) {
  forget_acks(flow);
  if (ack_listeners_.full()) ack_listeners_.grow();
  ack_listeners_.insert(flow, &listener);
}

void Host::forget_acks(const FlowKey& flow) noexcept { ack_listeners_.erase(flow); }

void Host::take_signal(const ReceivedFrame& frame, const tos_signal::Signal& signal,
                       Time now) noexcept {
  ++counters_.signals_taken;
  if (signal.kind == tos_signal::Kind::kAck) return take_ack(frame.flow.reversed(), now);
  signals_.push({frame.flow.reversed(),
                 frame.segment.sequence,
                 {tos_signal::Kind::kAck, signal.threshold_packets},
                 {},
                 {}});
  ++counters_.acks_sent;
}

void Host::take_signal(const ReceivedSignal& received, Time now) noexcept {
  ++counters_.signals_taken;
  const udp_signal::Signal& signal = received.signal;
  const FlowKey& datagram = received.datagram;
  if (signal.kind == udp_signal::Kind::kAck)
    return take_ack({datagram.destination_address, datagram.source_address, signal.source_port,
                     signal.destination_port},
                    now);
  udp_signal::Signal answer = signal;
  answer.kind = udp_signal::Kind::kAck;
  signals_.push({datagram.reversed(), 0, {}, answer, {}});
  ++counters_.acks_sent;
}

/// @param flow as it was announced
void Host::take_ack(const FlowKey& flow, Time now) noexcept {
  ++counters_.acks_received;
  if (SignalListener** listener = ack_listeners_.find(flow)) (*listener)->on_signal_ack(flow, now);
}

/// @param start of the transmission: from then on "due in" counts
void Host::write_signal(Packet& packet, Time start) noexcept {
  OutgoingSignal s = signals_.pop();
  if (s.message) {
    if (s.message->kind == udp_signal::Kind::kStart)
      s.message->due_in = std::max(s.due_at - start, Duration::zero());
    return write_signal_frame(packet, s.flow, *s.message);
  }
  TcpSegment segment;
  segment.sequence = s.sequence;
  write_frame(packet, s.flow, tos_signal::encode(s.signal, 0), segment, setup_.full_payload);
}

}  // namespace outrider::tg
