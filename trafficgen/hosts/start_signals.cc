#include "trafficgen/hosts/start_signals.h"

#include <algorithm>

namespace outrider::tg {

void StartSignals::push(const FlowKey& flow, std::uint32_t sequence,
                        std::uint16_t threshold_packets) noexcept {
  starts_.push({.flow = flow,
                .sequence = sequence,
                .signal = {tos_signal::Kind::kStart, threshold_packets},
                .number = next_number_++});
  ++counters_.starts_sent;
}

void StartSignals::push(const UdpStart& start) noexcept {
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
  starts_.push(
      {.flow = datagram, .message = message, .due_at = start.due_at, .number = next_number_++});
}

void StartSignals::take_at(std::uint16_t udp_port) {
  if (std::ranges::find(ports_, udp_port) == ports_.end()) ports_.push_back(udp_port);
}

void StartSignals::hear_acks(const FlowKey& flow, SignalListener& listener) {
  forget_acks(flow);
  if (ack_listeners_.full()) ack_listeners_.grow();
  ack_listeners_.insert(flow, &listener);
}

void StartSignals::take(const ReceivedFrame& frame, const tos_signal::Signal& signal,
                        Time now) noexcept {
  ++counters_.signals_taken;
  if (signal.kind == tos_signal::Kind::kAck) return take_ack(frame.flow.reversed(), now);
  answer({.flow = frame.flow.reversed(),
          .sequence = frame.segment.sequence,
          .signal = {tos_signal::Kind::kAck, signal.threshold_packets}});
}

void StartSignals::take(const ReceivedSignal& received, Time now) noexcept {
  ++counters_.signals_taken;
  const udp_signal::Signal& signal = received.signal;
  const FlowKey& datagram = received.datagram;
  if (signal.kind == udp_signal::Kind::kAck)
    return take_ack({datagram.destination_address, datagram.source_address, signal.source_port,
                     signal.destination_port},
                    now);
  udp_signal::Signal message = signal;
  message.kind = udp_signal::Kind::kAck;
  answer({.flow = datagram.reversed(), .message = message});
}

/// Queues an answer. The oldest one makes room: its worker has waited longest, and may have given
/// up.
void StartSignals::answer(Outgoing reply) noexcept {
  if (answers_.size() == kMaxAnswers) {
    (void)answers_.pop();
    ++counters_.answers_dropped;
  }
  reply.number = next_number_++;
  answers_.push(reply);
}

/// @param flow as it was announced
void StartSignals::take_ack(const FlowKey& flow, Time now) noexcept {
  ++counters_.acks_received;
  if (SignalListener** listener = ack_listeners_.find(flow)) (*listener)->on_signal_ack(flow, now);
}

void StartSignals::write(Packet& packet, Time start, bool full_payload) noexcept {
  const bool answers = next_is_answer();
  counters_.acks_sent += answers;
  Outgoing s = answers ? answers_.pop() : starts_.pop();
  if (s.message) {
    if (s.message->kind == udp_signal::Kind::kStart)
      s.message->due_in = std::max(s.due_at - start, Duration::zero());
    return write_signal_frame(packet, s.flow, *s.message);
  }
  TcpSegment segment;
  segment.sequence = s.sequence;
  write_frame(packet, s.flow, tos_signal::encode(s.signal, 0), segment, full_payload);
}

}  // namespace outrider::tg
