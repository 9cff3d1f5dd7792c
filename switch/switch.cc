#include "switch/switch.h"

#include <algorithm>
#include <numeric>

#include "common/config/addresses.h"
#include "common/net/burst_option.h"
#include "switch/header_rewrite.h"

namespace outrider {

namespace {

std::uint64_t key_of(const MacAddress& mac) noexcept {
  std::uint64_t key = 0;
  for (const auto byte : mac) key = (key << 8) | byte;
  return key;
}

std::uint16_t index_of_port(const SwitchConfig& config, const std::string& name) {
  const auto it = std::ranges::find(config.ports, name, &SwitchPortConfig::name);
  return static_cast<std::uint16_t>(it - config.ports.begin());
}

void read_identity(Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  const auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  const std::uint32_t option_bytes =
      tcp.header_bytes() - static_cast<std::uint32_t>(sizeof(TcpHeader));
  if (option_bytes < kBurstOptionBytes) return;
  const auto options = buffer(packet).subspan(m.tcp_offset + sizeof(TcpHeader), option_bytes);
  if (const auto identity = decode_burst_option(options)) {
    m.has_identity = true;
    m.identity = *identity;
  }
}

}  // namespace

Switch::Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits)
    : name_(config.name), ddl_ports_(config.ddl_ports), gate_(config.signals) {
  for (const auto& port : config.ports)
    ports_.push_back(std::make_unique<EgressPort>(port, loop, limits));
  for (const auto& route : config.routes) {
    const auto prefix = parse_prefix(route.prefix).value;
    routes_.insert(prefix->address, prefix->length, index_of_port(config, route.port));
  }
  for (const auto& route : config.mac_routes)
    mac_routes_[key_of(*parse_mac(route.mac).value)] = index_of_port(config, route.port);
}

void Switch::receive(std::uint32_t /*port*/, Packet* packet, Time now) noexcept {
  ++received_;
  DropReason reason{};
  const auto parsed = parse(*packet, reason);
  if (!parsed) return drop(packet, reason);
  tos_signal::Signal signal{};
  const auto verdict = judge_signal(*packet, *parsed, now, signal);
  const Decision decision = forward(*packet, *parsed);
  if (decision.out == nullptr) return drop(packet, DropReason::kNoRoute);
  if (decision.routed && !decrement_ttl(header_at<Ipv4Header>(*packet, meta(*packet).ip_offset)))
    return drop(packet, DropReason::kTtlExpired);

  const bool is_signal =
      verdict == SignalGate::Verdict::kAdmitted || verdict == SignalGate::Verdict::kBadCode;
  PacketMeta& m = meta(*packet);
  m.traffic_class = is_signal ? TrafficClass::kSignal : classify(*parsed);
  if (m.traffic_class == TrafficClass::kDdl && m.payload_bytes > 0) read_identity(*packet);
  if (verdict == SignalGate::Verdict::kAdmitted && signal.kind == tos_signal::Kind::kStart)
    decision.out->on_start(parsed->flow, parsed->sequence, signal.threshold_packets, now);
  decision.out->enqueue(packet, *parsed, is_signal, now);
}

SignalGate::Verdict Switch::judge_signal(const Packet& packet, const ParsedPacket& parsed, Time now,
                                         tos_signal::Signal& signal) noexcept {
  const PacketMeta& m = meta(packet);
  // A handshake or a reset whose DSCP happens to read as START is none.
  const bool opens_or_closes = (parsed.tcp_flags & (kTcpSyn | kTcpFin | kTcpRst)) != 0;
  if (m.tcp_offset == 0 || m.payload_bytes > 0 || opens_or_closes)
    return SignalGate::Verdict::kNotASignal;
  const auto verdict = gate_.judge(parsed.tos, parsed.flow.source_address, now, signal);
  signals_bad_code_ += verdict == SignalGate::Verdict::kBadCode;
  signals_not_accepted_ += verdict == SignalGate::Verdict::kNotAccepted;
  signals_over_rate_ += verdict == SignalGate::Verdict::kOverRate;
  return verdict;
}

Switch::Decision Switch::forward(Packet& packet, const ParsedPacket& parsed) noexcept {
  if (!mac_routes_.empty()) {
    const auto it = mac_routes_.find(key_of(header_at<EthernetHeader>(packet, 0).destination));
    if (it != mac_routes_.end()) return {ports_[it->second].get(), false};
  }
  const auto index = routes_.lookup(parsed.flow.destination_address);
  return {index ? ports_[*index].get() : nullptr, !parsed.is_arp};
}

TrafficClass Switch::classify(const ParsedPacket& parsed) const noexcept {
  const auto within = [this](std::uint16_t port) {
    return port >= ddl_ports_.first && port <= ddl_ports_.last;
  };
  return within(parsed.flow.source_port) || within(parsed.flow.destination_port)
             ? TrafficClass::kDdl
             : TrafficClass::kBackground;
}

void Switch::drop(Packet* packet, DropReason reason) noexcept {
  ++dropped_[static_cast<std::size_t>(reason)];
  release(packet);
}

void Switch::add_to(SwitchLive& live) const noexcept {
  live.received += received_;
  for (std::size_t i = 0; i < kDropReasons; ++i) live.drops[i] += dropped_[i];
  for (const auto& port : ports_) port->add_to(live);
}

void Switch::fill(SwitchReport& report, Time now) const {
  report.received += received_;
  report.signals_bad_code += signals_bad_code_;
  report.signals_not_accepted += signals_not_accepted_;
  report.signals_over_rate += signals_over_rate_;
  for (std::size_t r = 0; r < kDropReasons; ++r)
    report.drops[TrafficClass::kBackground][r] += dropped_[r];
  std::uint64_t arrived = std::accumulate(dropped_.begin(), dropped_.end(), std::uint64_t{0});
  for (const auto& port : ports_) {
    QueueReport queue = port->report(now);
    queue.switch_name = name_;
    for (std::size_t c = 0; c < kTrafficClasses; ++c) {
      std::uint64_t ended = queue.transmitted.values[c] + queue.resident.values[c];
      for (std::size_t r = 0; r < kDropReasons; ++r) {
        ended += queue.drops.values[c][r];
        report.drops.values[c][r] += queue.drops.values[c][r];
      }
      report.ledger_balanced &= ended == queue.arrived.values[c];
      report.transmitted += queue.transmitted.values[c];
      report.resident += queue.resident.values[c];
      arrived += queue.arrived.values[c];
    }
    report.queues.push_back(std::move(queue));
  }
  report.ledger_balanced &= arrived == received_;
}

void Switch::flush() noexcept {
  for (auto& port : ports_) port->flush();
}

}  // namespace outrider
