#include "trafficgen/hosts/start_signals.h"

#include <algorithm>

#include "common/net/signal_tag.h"

namespace outrider::tg {

void StartSignals::push(const TosStart& start) noexcept {
  starts_.push({.flow = start.flow,
                .sequence = start.sequence,
                .signal = {tos_signal::Kind::kStart, start.threshold_packets},
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
  starts_.push({.flow = datagram,
                .message = message,
                .due_at = start.due_at,
                .key = start.key,
                .recorded = start.recorded,
                .dscp = start.dscp,
                .number = next_number_++});
}

bool StartSignals::push_replay() noexcept {
  if (!recorded_) return false;
  recorded_->number = next_number_++;
  starts_.push(*recorded_);
  ++counters_.starts_sent;
  return true;
}

void StartSignals::take_at(std::uint16_t udp_port) {
  if (std::ranges::find(ports_, udp_port) == ports_.end()) ports_.push_back(udp_port);
}

void StartSignals::hear_acks(const FlowKey& flow, SignalListener& listener, const SignalKey* key) {
  forget_acks(flow);
  if (ack_listeners_.full()) ack_listeners_.grow();
  ack_listeners_.insert(flow, {.listener = &listener, .key = key, .after = counter_.last()});
}

void StartSignals::take(const ReceivedFrame& frame, const tos_signal::Signal& signal,
                        Time now) noexcept {
  ++counters_.signals_taken;
  if (signal.kind == tos_signal::Kind::kAck) return take_ack(frame.flow.reversed(), nullptr, now);
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
                    &received, now);
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
/// @param message the ACK; nullptr if it has the TOS form, which cannot be signed
void StartSignals::take_ack(const FlowKey& flow, const ReceivedSignal* message, Time now) noexcept {
  const auto answers = [message](const Heard& starts) {
    const bool is_signed = message != nullptr && message->signal.proof;
    if (starts.key == nullptr || !is_signed) return starts.key == nullptr && !is_signed;
    return message->signal.counter > starts.after &&
           udp_signal::is_signed_by(message->signal, *starts.key, message->datagram);
  };
  const Heard* heard = ack_listeners_.find(flow);
  if (heard != nullptr && !answers(*heard)) {
    ++counters_.acks_not_ours;
    return;
  }
  ++counters_.acks_received;
  const auto told_lead = message != nullptr ? message->signal.told_lead : std::nullopt;
  if (heard != nullptr) heard->listener->on_signal_ack(flow, told_lead, now);
}

/// Sets what depends on the time at which a UDP START leaves.
void StartSignals::complete(Outgoing& start, Time leaves_at) noexcept {
  udp_signal::Signal& message = *start.message;
  message.due_in = std::max(start.due_at - leaves_at, Duration::zero());
  if (start.key != nullptr) {
    message.due_in = std::min(message.due_in, udp_signal::kSignedDueLimit);
    message.counter = counter_.next(
        clock_at_zero_ns_ + static_cast<std::uint64_t>(leaves_at.time_since_epoch().count()));
    udp_signal::sign(message, *start.key, start.flow);
  }
  start.complete = true;
  if (start.recorded) recorded_ = start;
}

void StartSignals::write(Packet& packet, Time start, bool full_payload) noexcept {
  const bool answers = next_is_answer();
  counters_.acks_sent += answers;
  Outgoing s = answers ? answers_.pop() : starts_.pop();
  if (s.message) {
    if (s.message->kind == udp_signal::Kind::kStart && !s.complete) complete(s, start);
    return write_signal_frame(packet, s.flow, *s.message, s.dscp);
  }
  TcpSegment segment;
  segment.sequence = s.sequence;
  write_frame(packet, s.flow, tos_signal::encode(s.signal, 0), segment, full_payload);
}

}  // namespace outrider::tg
