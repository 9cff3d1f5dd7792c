#include "switch/runtime/switch.h"

#include <numeric>
#include <span>

#include "common/dpdk/known_headers.h"
#include "common/net/roce.h"
#include "switch/config/config_toml.h"
#include "switch/config/same_settings.h"
#include "switch/forwarding/arp_reply.h"
#include "switch/forwarding/datagram.h"
#include "switch/forwarding/header_rewrite.h"
#include "switch/forwarding/plain_segment.h"

namespace outrider::sw {

namespace {

constexpr std::uint32_t kNoUdpPort = 0x1'0000;  // larger than any port

/// Reads of a packet of known headers what a switch may have changed since.
/// @return false if they are not known
bool read_known(Packet& packet) noexcept {
  if (!knows_segment(packet)) return false;
  meta(packet).tos = header_at<Ipv4Header>(packet, kKnownIpOffset).tos;
  return true;
}

bool predicts(const SwitchConfig& config) {
  for (const auto& port : config.ports)
    for (const auto& queue : queues_of(port))
      if (queue.regulation.predict.from != PredictFrom::kOff) return true;
  return false;
}

std::unique_ptr<SwitchTables> make_tables(const SwitchConfig& config, std::uint32_t index) {
  return std::make_unique<SwitchTables>(SwitchTables{
      Forwarder(config, index), Classifier(config), BurstSizes(config.signals.burst_sizes),
      config.signals.accept_udp ? config.signals.udp_port : kNoUdpPort, predicts(config)});
}

std::unique_ptr<SharedBuffer> make_buffer(const SwitchConfig& config) {
  if (!config.buffer.total_bytes) return nullptr;
  std::vector<SharedBuffer::QueueShare> shares;
  for (const auto& port : config.ports)
    for (const auto& queue : queues_of(port))
      shares.push_back({queue.queue.reserved_bytes, queue.queue.alpha});
  const auto lossless = LosslessBuffer::shares_of(config);
  shares.insert(shares.end(), lossless.begin(), lossless.end());
  return std::make_unique<SharedBuffer>(*config.buffer.total_bytes - lossless_own_bytes(config),
                                        shares);
}

std::optional<HopRecorder> hops_of(const SwitchConfig& config, std::uint32_t index,
                                   std::size_t port) {
  if (!config.hop_records.udp_port) return std::nullopt;
  return HopRecorder(*config.hop_records.udp_port, hop_id_of(config.hop_records, index),
                     static_cast<std::uint8_t>(port));
}

}  // namespace

Switch::Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits,
               std::size_t lanes, std::uint32_t index)
    : name_(config.name), index_(index), tables_(make_tables(config, index)) {
  buffer_ = make_buffer(config);
  lossless_ = LosslessBuffer::make(config, buffer_.get());
  EgressPort::Limits of_port = limits;
  of_port.buffer = buffer_.get();
  of_port.lossless = lossless_.get();
  of_port.signers = shares_of(config.signals);
  for (const auto& port : config.ports) {
    of_port.hops = hops_of(config, index, ports_.size());
    ports_.push_back(std::make_unique<EgressPort>(port, loop, of_port));
    if (PortGrants* grants = ports_.back()->grants()) grants->connect(*this);
    of_port.first_queue += ports_.back()->queues().size();
    ++of_port.number;
  }
  join_subscribers(config);
  for (std::size_t i = 0; i < lanes; ++i)
    lanes_.emplace_back(config, *tables_, tables_->forwarder.make_lane(lanes > 1),
                        tables_->classifier.make_lane());
}

/// Tells each port which queues hear of its bursts.
void Switch::join_subscribers(const SwitchConfig& config) {
  for (std::size_t of = 0; of < ports_.size(); ++of) {
    const auto queues = queues_of(config.ports[of]);
    for (std::size_t q = 0; q < queues.size(); ++q) {
      const Hears hears = queues[q].regulation.hears;
      for (std::size_t p = 0; p < ports_.size(); ++p)
        if (hears == Hears::kSwitch || (hears == Hears::kPort && p == of))
          ports_[p]->subscribe(ports_[of]->queues()[q], p == of);
    }
  }
}

SwitchChange Switch::prepare(const SwitchConfig& from, const SwitchConfig& to) const {
  const auto without_ports = [](SwitchConfig config) {
    config.ports.clear();
    return config;
  };
  const bool same_signals =
      same_settings(from.signals, to.signals) && same_keys(from.signals, to.signals);
  const SignerShares signers = shares_of(to.signals);
  const bool new_signers = signers != shares_of(from.signals);
  SwitchChange change;
  change.lanes.resize(lanes_.size());
  if (!same_settings(without_ports(from), without_ports(to)))
    change.tables = make_tables(to, index_);
  for (auto& lane : change.lanes) {
    lane.tables = change.tables.get();
    if (change.tables) lane.turns = change.tables->forwarder.make_turns();
    if (!same_signals) lane.gate.emplace(to);
  }
  for (std::size_t p = 0; p < ports_.size(); ++p)
    change.ports.push_back(ports_[p]->prepare(from.ports[p], to.ports[p], signers, new_signers));
  return change;
}

void Switch::apply_lane(SwitchChange& change, std::size_t lane) noexcept {
  LaneChange& part = change.lanes[lane];
  SwitchLane& own = lanes_[lane];
  if (part.tables != nullptr) {
    own.tables = part.tables;
    std::swap(own.forwarding.turns, part.turns);
  }
  if (part.gate) {
    part.gate->inherit(own.gate);
    std::swap(own.gate, *part.gate);
  }
}

void Switch::apply(SwitchChange& change, Time now) noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i) apply_lane(change, i);
  for (std::uint32_t p = 0; p < ports(); ++p) apply_port(change, p, now);
}

void Switch::apply_port(SwitchChange& change, std::uint32_t port, Time now) noexcept {
  if (change.ports[port]) ports_[port]->apply(*change.ports[port], now);
}

inline bool Switch::rewrite(Packet& packet, const FrameSummary& summary, const Forwarder& forwarder,
                            const Forwarder::Verdict& verdict) noexcept {
  const std::uint32_t offset = summary.network_offset;
  if (summary.kind == FrameKind::kIpv6) [[unlikely]] {
    if (!decrement_hop_limit(header_at<Ipv6Header>(packet, offset))) return false;
  } else if (!decrement_ttl(header_at<Ipv4Header>(packet, offset))) {
    return false;
  }
  if (verdict.hop->has_mac) {
    auto& ethernet = header_at<EthernetHeader>(packet, 0);
    ethernet.destination = verdict.hop->mac;
    ethernet.source = forwarder.mac();
  }
  return true;
}

/// Rewrites and classifies a packet whose way is decided.
inline std::uint32_t Switch::pass(SwitchLane& lane, Packet& packet, const FrameSummary& summary,
                                  const Forwarder::Verdict& verdict) noexcept {
  const auto refuse = [&](DropReason reason) {
    drop(lane, packet, reason);
    return kDropped;
  };
  if (verdict.action == Forwarder::Action::kDrop) [[unlikely]]
    return refuse(verdict.reason);
  if (verdict.action == Forwarder::Action::kRoute &&
      !rewrite(packet, summary, lane.tables->forwarder, verdict)) [[unlikely]]
    return refuse(DropReason::kTtlExpired);
  PacketMeta& m = meta(packet);
  const Classifier::Result result = lane.tables->classifier.classify(summary, m, lane.classes);
  m.traffic_class = result.traffic_class;
  m.queue = result.queue;
  if (verdict.action == Forwarder::Action::kFlood) return kFlooded;
  if (verdict.action != Forwarder::Action::kAnswer) [[likely]]
    return verdict.port;
  make_arp_reply(header_at<EthernetHeader>(packet, 0),
                 header_at<ArpPacket>(packet, summary.network_offset),
                 lane.tables->forwarder.mac());
  return ingress_port_of(packet);
}

template <bool kLinked>
std::uint32_t Switch::forward(SwitchLane& lane, std::uint32_t port, Packet& packet,
                              Time now) noexcept {
  set_ingress_port(packet, static_cast<std::uint16_t>(port));
  PacketMeta& m = meta(packet);
  m.notes = SwitchNotes{};
  const Forwarder& forwarder = lane.tables->forwarder;
  if (kLinked && knows_roce(packet)) [[unlikely]]
    return forward_known_roce(lane, packet, now);
  // pass() is compiled anew for each form: most of what it asks is known beforehand of this one.
  if (!forwarder.looks_at_macs() &&
      ((kLinked && read_known(packet)) || parse_plain_segment(buffer(packet), m.frame_bytes, m)))
      [[likely]]
    return pass(lane, packet, kPlainSegment, forwarder.route(m.flow, lane.forwarding));
  return forward_other(lane, packet, now);
}
template std::uint32_t Switch::forward<false>(SwitchLane&, std::uint32_t, Packet&, Time) noexcept;
template std::uint32_t Switch::forward<true>(SwitchLane&, std::uint32_t, Packet&, Time) noexcept;

std::uint32_t Switch::forward_known_roce(SwitchLane& lane, Packet& packet, Time now) noexcept {
  reread_known_roce(packet);
  constexpr FrameSummary kDatagram{
      .kind = FrameKind::kIpv4, .network_offset = kKnownIpOffset, .protocol = kIpProtocolUdp};
  const Forwarder& forwarder = lane.tables->forwarder;
  const FlowKey& flow = meta(packet).flow;
  return pass(lane, packet, kDatagram,
              forwarder.looks_at_macs()
                  ? forwarder.decide(kDatagram, flow, buffer(packet).data(),
                                     ingress_port_of(packet), now, lane.forwarding)
                  : forwarder.route(flow, lane.forwarding));
}

/// Forwards a frame of any form.
std::uint32_t Switch::forward_other(SwitchLane& lane, Packet& packet, Time now) noexcept {
  const FrameSummary summary = parse(packet);
  if (!summary.is_network()) [[unlikely]] {
    if (summary.kind == FrameKind::kRefused) {
      drop(lane, packet, summary.refused);
      return kDropped;
    }
    if (take_pause(lane, packet, now)) return kDropped;
  }
  return pass(lane, packet, summary,
              lane.tables->forwarder.decide(summary, meta(packet).flow, buffer(packet).data(),
                                            ingress_port_of(packet), now, lane.forwarding));
}

bool Switch::take_pause(SwitchLane& lane, Packet& packet, Time now) noexcept {
  if (lossless_ == nullptr) return false;
  const auto frame = decode_pause_frame(buffer(packet));
  if (!frame) return false;
  ++lane.pauses_taken;
  EgressPort& port = *ports_[ingress_port_of(packet)];
  release(&packet);
  port.on_pause(*frame, now);
  return true;
}

std::optional<std::uint16_t> Switch::port_behind(const SwitchLane& lane, Packet& packet,
                                                 Time now) const noexcept {
  const Forwarder& forwarder = lane.tables->forwarder;
  if (forwarder.learning() && buffer(packet).size() >= sizeof(EthernetHeader)) {
    const std::uint64_t source = mac_at(buffer(packet).data() + sizeof(MacAddress));
    if (const auto port = forwarder.port_of_station(source, now, lane.forwarding)) return port;
  }
  const auto address = source_address_of(packet);
  return address ? route(*address) : std::nullopt;
}

void Switch::note_source(const SwitchLane& lane, Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  // As with signals: an IPv6 source has no IPv4 prefix, whatever it is folded to.
  m.notes.source_accepted = !is_ipv6_at(packet, m.ip_offset) &&
                            lane.gate.accepts({m.flow.source_address, ingress_port_of(packet)});
}

/// Hears a signal of the TOS form. @pre a TCP segment without payload
/// @return true if it is a signal, which is served first
bool Switch::hears_signal(SwitchLane& lane, EgressPort& port, Packet& packet, Time now) noexcept {
  PacketMeta& m = meta(packet);
  // Sources are accepted by IPv4 prefix; the 32 bits that an IPv6 address is folded to have none.
  if (!tos_signal::is_carrier(m.tcp_flags, m.payload_bytes) || is_ipv6_at(packet, m.ip_offset))
    return false;
  tos_signal::Signal signal{};
  const auto verdict =
      lane.gate.judge(m.tos, {m.flow.source_address, ingress_port_of(packet)}, now, signal);
  count(lane, verdict);
  if (verdict == SignalGate::Verdict::kAdmitted && signal.kind == tos_signal::Kind::kStart) {
    announce(lane, port, packet, {m.flow, m.sequence, signal.threshold_packets}, now);
  }
  const bool served_first =
      verdict == SignalGate::Verdict::kAdmitted || verdict == SignalGate::Verdict::kBadCode;
  if (served_first) m.traffic_class = TrafficClass::kSignal;
  return served_first;
}

/// Hears a signal of the UDP form. @pre the packet goes to the signals' port
/// @return true if it is a signal, which is served first
bool Switch::hears_message(SwitchLane& lane, EgressPort& port, Packet& packet, Time now) noexcept {
  const auto message = datagram_of(packet);
  if (!message) return false;
  PacketMeta& m = meta(packet);
  const auto [verdict, fault, signal, signer] =
      lane.gate.judge(*message, m.flow, ingress_port_of(packet), now);
  count(lane, verdict);
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
    announce(lane, port, packet, start, now);
  }
  m.traffic_class = TrafficClass::kSignal;
  return true;
}

/// Returns the answer to a START that a packet has. Whoever may send it is judged when it passes.
std::optional<StartAnswer> Switch::answer_in(const SwitchLane& lane, Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  if (is_ipv6_at(packet, m.ip_offset)) return std::nullopt;
  if (m.tcp_offset != 0) {
    if (!tos_signal::is_carrier(m.tcp_flags, m.payload_bytes)) return std::nullopt;
    const auto signal = tos_signal::decode(m.tos);
    if (!signal || signal->kind != tos_signal::Kind::kAck) return std::nullopt;
    return StartAnswer{m.flow.reversed(), m.sequence};
  }
  if (m.flow.destination_port != lane.tables->signal_port) return std::nullopt;
  const auto message = datagram_of(packet);
  udp_signal::Signal signal;
  if (!message || udp_signal::decode(*message, Duration::max(), signal) ||
      signal.kind != udp_signal::Kind::kAck)
    return std::nullopt;
  return StartAnswer{{m.flow.destination_address, m.flow.source_address, signal.source_port,
                      signal.destination_port},
                     signal.sequence};
}

/// Writes into an answer that arrived at port `in` how early the port's queues want to hear of the
/// next burst. Of several switches on its way the longest lead stands. Whoever sent the answer
/// could have written any lead, so it need not be judged.
void Switch::tell_lead(const SwitchLane& lane, EgressPort& in, Packet& packet, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.flow.destination_port != lane.tables->signal_port || is_ipv6_at(packet, m.ip_offset))
    return;
  const auto message = datagram_of(packet);
  udp_signal::Signal signal;
  if (!message || udp_signal::decode(*message, Duration::max(), signal) ||
      signal.kind != udp_signal::Kind::kAck || signal.proof)
    return;
  const auto lead = in.lead_for({m.flow.destination_address, m.flow.source_address,
                                 signal.source_port, signal.destination_port},
                                now);
  if (!lead || *lead < signal.told_lead.value_or(Duration::zero())) return;
  signal.told_lead = lead;
  rewrite_signal(packet, signal);
}

/// Shows a packet that arrived at port `in` to the bursts that wait there for their grant.
/// @return whether that took ownership
bool Switch::take_answer(const SwitchLane& lane, EgressPort& in, Packet* packet, std::uint16_t out,
                         Time now) noexcept {
  const auto answer = answer_in(lane, *packet);
  return answer && in.grants()->take(*answer, packet, out, now);
}

/// Answers are held where one lcore has the switch.
void Switch::pass_answer(Packet* answer, std::uint16_t out, Time now) noexcept {
  egress(lanes_.front(), *ports_[out], answer, now);
}

void Switch::drop_answer(Packet* answer) noexcept {
  take_back(lanes_.front(), *answer, DropReason::kRepeatedAnswer);
}

void Switch::announce(SwitchLane& lane, EgressPort& port, Packet& packet, StartSignal start,
                      Time now) const noexcept {
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

void Switch::count(SwitchLane& lane, SignalGate::Verdict verdict) noexcept {
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

void Switch::drop(SwitchLane& lane, Packet& packet, DropReason reason) noexcept {
  ++lane.dropped[reason];
  release(&packet);
}

void Switch::publish(SwitchCells& to, Time now) noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i) to.lanes[i].write(lanes_[i]);
  for (std::size_t p = 0; p < ports_.size(); ++p) ports_[p]->publish(to.ports[p], now);
}

void Switch::fill(SwitchReport& report, Time now, std::uint64_t between) const {
  std::uint64_t entered = 0, arrived = between;
  report.resident += between;
  for (const auto& lane : lanes_) {
    add_lane(report, lane);
    entered += lane.received + lane.copied;
    arrived += lane.pauses_taken;
    arrived = std::accumulate(lane.dropped.begin(), lane.dropped.end(), arrived);
  }
  const std::size_t first = report.queues.size();
  for (const auto& port : ports_) {
    port->report(report.queues, now);
    arrived += port->grants() != nullptr ? port->grants()->held() : 0;
  }
  for (auto& queue : std::span(report.queues).subspan(first)) {
    queue.switch_name = name_;
    report.ledger_balanced &= add_queue(report, queue);
    entered += queue.pause_frames;
    for (const std::uint64_t of_class : queue.arrived.values) arrived += of_class;
  }
  report.ledger_balanced &= arrived == entered;
}

void Switch::flush() noexcept {
  for (auto& port : ports_) port->flush();
}

}  // namespace outrider::sw
