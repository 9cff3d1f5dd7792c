#include "switch/switch.h"

#include <algorithm>
#include <span>

#include "common/config/addresses.h"
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

}  // namespace

Switch::Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits,
               std::size_t lanes)
    : name_(config.name), ddl_ports_(config.ddl_ports), lanes_(lanes, SwitchLane(config.signals)) {
  for (const auto& port : config.ports)
    ports_.push_back(std::make_unique<EgressPort>(port, loop, limits));
  for (const auto& route : config.routes) {
    const auto prefix = parse_prefix(route.prefix).value;
    routes_.insert(prefix->address, prefix->length, index_of_port(config, route.port));
  }
  for (const auto& route : config.mac_routes)
    mac_routes_[key_of(*parse_mac(route.mac).value)] = index_of_port(config, route.port);
}

std::optional<std::uint16_t> Switch::forward(SwitchLane& lane, std::uint32_t /*port*/,
                                             Packet& packet) noexcept {
  const auto refuse = [&](DropReason reason) {
    drop(lane, packet, reason);
    return std::nullopt;
  };
  if (const auto fault = parse(packet)) return refuse(*fault);
  PacketMeta& m = meta(packet);
  auto out = port_by_mac(packet);
  if (!out) {
    out = routes_.lookup(m.flow.destination_address);
    if (!out) return refuse(DropReason::kNoRoute);
    // Routed by address, so the TTL counts.
    if (m.ip_offset != 0 && !decrement_ttl(header_at<Ipv4Header>(packet, m.ip_offset)))
      return refuse(DropReason::kTtlExpired);
  }
  m.traffic_class = classify(m);
  m.queue = 0;
  return out;
}

std::optional<std::uint16_t> Switch::port_by_mac(Packet& packet) const noexcept {
  if (mac_routes_.empty()) return std::nullopt;
  const auto it = mac_routes_.find(key_of(header_at<EthernetHeader>(packet, 0).destination));
  return it == mac_routes_.end() ? std::nullopt : std::optional(it->second);
}

TrafficClass Switch::classify(const PacketMeta& m) const noexcept {
  const auto within = [this](std::uint16_t port) {
    return port >= ddl_ports_.first && port <= ddl_ports_.last;
  };
  return within(m.flow.source_port) || within(m.flow.destination_port) ? TrafficClass::kDdl
                                                                       : TrafficClass::kBackground;
}

/// @pre a TCP segment without payload. @return true if it is a signal, served first
bool Switch::hears_signal(SwitchLane& lane, EgressPort& port, Packet& packet, Time now) noexcept {
  PacketMeta& m = meta(packet);
  // A handshake or a reset whose DSCP happens to read as START is none.
  const bool opens_or_closes = (m.tcp_flags & (kTcpSyn | kTcpFin | kTcpRst)) != 0;
  if (opens_or_closes) return false;
  tos_signal::Signal signal{};
  const auto verdict = lane.gate.judge(m.tos, m.flow.source_address, now, signal);
  lane.signals_bad_code += verdict == SignalGate::Verdict::kBadCode;
  lane.signals_not_accepted += verdict == SignalGate::Verdict::kNotAccepted;
  lane.signals_over_rate += verdict == SignalGate::Verdict::kOverRate;
  if (verdict == SignalGate::Verdict::kAdmitted && signal.kind == tos_signal::Kind::kStart)
    port.on_start(m.queue, m.flow, m.sequence, signal.threshold_packets, now);
  const bool served_first =
      verdict == SignalGate::Verdict::kAdmitted || verdict == SignalGate::Verdict::kBadCode;
  if (served_first) m.traffic_class = TrafficClass::kSignal;
  return served_first;
}

void Switch::drop(SwitchLane& lane, Packet& packet, DropReason reason) noexcept {
  ++lane.dropped[static_cast<std::size_t>(reason)];
  release(&packet);
}

void Switch::add_to(SwitchLive& live) const noexcept {
  for (const auto& lane : lanes_) {
    live.received += lane.received;
    for (std::size_t i = 0; i < kDropReasons; ++i) live.drops[i] += lane.dropped[i];
  }
  for (const auto& port : ports_) port->add_to(live);
}

void Switch::fill(SwitchReport& report, Time now) const {
  std::uint64_t received = 0, arrived = 0;
  for (const auto& lane : lanes_) {
    received += lane.received;
    report.signals_bad_code += lane.signals_bad_code;
    report.signals_not_accepted += lane.signals_not_accepted;
    report.signals_over_rate += lane.signals_over_rate;
    for (std::size_t r = 0; r < kDropReasons; ++r) {
      report.drops[TrafficClass::kBackground][r] += lane.dropped[r];
      arrived += lane.dropped[r];
    }
  }
  report.received += received;
  const std::size_t first = report.queues.size();
  for (const auto& port : ports_) port->report(report.queues, now);
  for (auto& queue : std::span(report.queues).subspan(first)) {
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
  }
  report.ledger_balanced &= arrived == received;
}

void Switch::flush() noexcept {
  for (auto& port : ports_) port->flush();
}

}  // namespace outrider
