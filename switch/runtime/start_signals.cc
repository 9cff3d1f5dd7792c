#include "switch/runtime/start_signals.h"

#include <optional>

#include "common/net/roce.h"
#include "switch/forwarding/datagram.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {

namespace {

void count_verdict(SwitchLane& lane, SignalGate::Verdict verdict) noexcept {
  using V = SignalGate::Verdict;
  switch (verdict) {
    case V::kNotASignal:
    case V::kBadMessage:  // counted by its fault
    case V::kAdmitted:
      return;
    case V::kNotAccepted:
      ++lane.signals_not_accepted;
      return;
    case V::kBadCode:
      ++lane.signals_bad_code;
      return;
    case V::kUnsigned:
      ++lane.signals_unsigned;
      return;
    case V::kUnknownKey:
      ++lane.signals_unknown_key;
      return;
    case V::kOverRate:
      ++lane.signals_over_rate;
      return;
    case V::kBadTag:
      ++lane.signals_bad_tag;
      return;
    case V::kReplayed:
      ++lane.signals_replayed;
      return;
    case V::kNoWindow:
      ++lane.signals_no_window;
      return;
    case V::kOverKeyRate:
      ++lane.signals_over_key_rate;
      return;
    case V::kNotAuthorised:
      ++lane.signals_not_authorised;
      return;
  }
}

/// Announces a burst to the queue that packets of its flow take. The START itself, `packet`, may
/// have been assigned to another queue.
void announce_burst(SwitchLane& lane, EgressPort& port, Packet& packet, StartSignal start,
                    Time now) noexcept {
  if (!start.bytes) start.bytes = lane.tables->burst_sizes.of(start.flow);
  lane.classes.on_start(start.flow);  // first, as it may move the flow to the queue of DDL data
  HeaderFields fields;
  FrameSummary summary = parse_headers(buffer(packet), meta(packet).frame_bytes, fields);
  // A START does not say how its burst is sent: RoCEv2 is known by its port.
  const bool roce = start.flow.destination_port == roce::kPort;
  summary.protocol = roce ? kIpProtocolUdp : kIpProtocolTcp;
  fields.flow = start.flow;
  const auto transport = static_cast<std::uint8_t>(fields.ip_offset + sizeof(Ipv4Header));
  fields.tcp_offset = roce ? 0 : transport;
  port.on_start(lane.tables->classifier.classify(summary, fields, lane.classes).queue, start, now);
}

/// Returns the ACK of a START that a packet has. Whether its sender may send it is judged when it
/// passes.
std::optional<StartAck> ack_in(const SwitchLane& lane, Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  if (is_ipv6_at(packet, m.ip_offset)) return std::nullopt;
  if (m.tcp_offset != 0) {
    if (!tos_signal::is_carrier(m.tcp_flags, m.payload_bytes)) return std::nullopt;
    const auto signal = tos_signal::decode(m.tos);
    if (!signal || signal->kind != tos_signal::Kind::kAck) return std::nullopt;
    return StartAck{m.flow.reversed(), m.sequence};
  }
  if (m.flow.destination_port != lane.tables->signal_port) return std::nullopt;
  const auto message = datagram_of(packet);
  udp_signal::Signal signal;
  if (!message || udp_signal::decode(*message, Duration::max(), signal) ||
      signal.kind != udp_signal::Kind::kAck)
    return std::nullopt;
  return StartAck{{m.flow.destination_address, m.flow.source_address, signal.source_port,
                   signal.destination_port},
                  signal.sequence};
}

}  // namespace

bool take_tos_signal(SwitchLane& lane, EgressPort& port, Packet& packet, Time now) noexcept {
  PacketMeta& m = meta(packet);
  // Sources are accepted by IPv4 prefix; the 32 bits that an IPv6 address is folded to have none.
  if (!tos_signal::is_carrier(m.tcp_flags, m.payload_bytes) || is_ipv6_at(packet, m.ip_offset))
    return false;
  tos_signal::Signal signal{};
  const auto verdict =
      lane.gate.judge(m.tos, {m.flow.source_address, ingress_port_of(packet)}, now, signal);
  count_verdict(lane, verdict);
  if (verdict == SignalGate::Verdict::kAdmitted && signal.kind == tos_signal::Kind::kStart) {
    announce_burst(lane, port, packet, {m.flow, m.sequence, signal.threshold_packets}, now);
  }
  const bool served_first =
      verdict == SignalGate::Verdict::kAdmitted || verdict == SignalGate::Verdict::kBadCode;
  if (served_first) m.traffic_class = TrafficClass::kSignal;
  return served_first;
}

bool take_udp_signal(SwitchLane& lane, EgressPort& port, Packet& packet, Time now) noexcept {
  const auto message = datagram_of(packet);
  if (!message) return false;
  PacketMeta& m = meta(packet);
  const auto [verdict, fault, signal, signer] =
      lane.gate.judge(*message, m.flow, ingress_port_of(packet), now);
  count_verdict(lane, verdict);
  if (verdict == SignalGate::Verdict::kBadMessage) ++lane.signals_bad_udp[fault];
  if (verdict != SignalGate::Verdict::kAdmitted) return false;
  lane.signals_signed += signal.proof.has_value();
  if (signal.kind == udp_signal::Kind::kStart) {
    StartSignal start{.flow = {m.flow.source_address, m.flow.destination_address,
                               signal.source_port, signal.destination_port},
                      .sequence = signal.sequence,
                      .threshold_packets = signal.threshold_packets,
                      .due = now + signal.due_in,
                      .signer = signer};
    if (signal.burst_bytes != 0) start.bytes = signal.burst_bytes;
    announce_burst(lane, port, packet, start, now);
  }
  m.traffic_class = TrafficClass::kSignal;
  return true;
}

void note_source(const SwitchLane& lane, Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  // As with signals: an IPv6 source has no IPv4 prefix, whatever it is folded to.
  m.notes.source_accepted = !is_ipv6_at(packet, m.ip_offset) &&
                            lane.gate.accepts({m.flow.source_address, ingress_port_of(packet)});
}

void write_lead(const SwitchLane& lane, EgressPort& in, Packet& packet, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.flow.destination_port != lane.tables->signal_port || is_ipv6_at(packet, m.ip_offset))
    return;
  const auto message = datagram_of(packet);
  udp_signal::Signal signal;
  if (!message || udp_signal::decode(*message, Duration::max(), signal) ||
      signal.kind != udp_signal::Kind::kAck || signal.proof)
    return;
  const auto lead = in.returns().lead_for({m.flow.destination_address, m.flow.source_address,
                                           signal.source_port, signal.destination_port},
                                          now);
  if (!lead || *lead < signal.told_lead.value_or(Duration::zero())) return;
  signal.told_lead = lead;
  rewrite_signal(packet, signal);
}

bool take_ack(const SwitchLane& lane, EgressPort& in, Packet* packet, std::uint16_t out,
              Time now) noexcept {
  const auto ack = ack_in(lane, *packet);
  return ack && in.grants()->take(*ack, packet, out, now);
}

}  // namespace outrider::sw
