#include "switch/runtime/network.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "switch/runtime/switch.h"

namespace outrider::sw {

namespace {

struct PortRef {
  std::uint32_t switch_index = 0;
  std::uint32_t port_index = 0;
};

/// Returns the indices of "switch.port". @pre the configuration is valid
PortRef find_port(const SwitchProcessConfig& config, const std::string& text) {
  const auto dot = text.find('.');
  const auto sw = std::ranges::find(config.switches, text.substr(0, dot), &SwitchConfig::name);
  const auto port = std::ranges::find(sw->ports, text.substr(dot + 1), &SwitchPortConfig::name);
  return {static_cast<std::uint32_t>(sw - config.switches.begin()),
          static_cast<std::uint32_t>(port - sw->ports.begin())};
}

}  // namespace

SwitchNetwork::SwitchNetwork(const SwitchProcessConfig& config, EventLoop& loop)
    : config_(config), loop_(loop) {
  const EgressPort::Limits limits{
      .tap = {.bursts = config.max_burst_records, .bins = config.max_bins, .bin = config.bin},
      .seed = config.seed};
  for (const auto& sw : config_.switches) {
    const auto index = static_cast<std::uint32_t>(switches_.size());
    switches_.push_back(std::make_unique<Switch>(sw, loop_, limits, 1, index));
  }
  const auto join = [this](PortRef from, PortRef to, Duration delay) {
    links_.push_back(
        std::make_unique<Link>(loop_, delay, *switches_[to.switch_index], to.port_index));
    switches_[from.switch_index]->port(from.port_index).connect(*links_.back());
  };
  for (const auto& link : config_.links) {
    const PortRef a = find_port(config_, link.a);
    const PortRef b = find_port(config_, link.b);
    join(a, b, link.delay);
    join(b, a, link.delay);
  }
  by_device_.resize(config_.devices.size());
  for (std::uint32_t s = 0; s < config_.switches.size(); ++s) {
    const auto& ports = config_.switches[s].ports;
    for (std::uint32_t p = 0; p < ports.size(); ++p) {
      if (!ports[p].device) continue;
      const auto device = std::ranges::find(config_.devices, *ports[p].device, &DeviceConfig::name);
      by_device_[static_cast<std::size_t>(device - config_.devices.begin())].push_back(
          static_cast<std::uint32_t>(edges_.size()));
      edges_.push_back({s, p, *ports[p].device, ports[p].delay});
      links_.push_back(std::make_unique<Link>(loop_, ports[p].delay, *switches_[s], p));
      ingress_.push_back(links_.back().get());
    }
  }
}

SwitchNetwork::~SwitchNetwork() = default;

void SwitchNetwork::connect(std::uint32_t edge, Node& to, std::uint32_t to_port) {
  const EdgePort& e = edges_[edge];
  links_.push_back(std::make_unique<Link>(loop_, e.delay, to, to_port));
  egress_.push_back(links_.back().get());
  switches_[e.switch_index]->port(e.port_index).connect(*links_.back());
}

void SwitchNetwork::attribute(std::uint32_t owners) {
  for (auto& sw : switches_)
    for (std::uint32_t p = 0; p < sw->ports(); ++p) sw->port(p).attribute(owners);
}

std::optional<std::uint32_t> SwitchNetwork::route(std::uint32_t switch_index,
                                                  std::uint32_t address) const noexcept {
  return switches_[switch_index]->route(address);
}

Link& SwitchNetwork::ingress(std::uint32_t edge) noexcept { return *ingress_[edge]; }

void SwitchNetwork::receive_from_device(std::uint32_t device, Packet* packet,
                                        Time arrived) noexcept {
  const auto& edges = by_device_[device];
  assert(!edges.empty());  // validated: every device has a port
  std::uint32_t edge = edges.front();
  if (edges.size() > 1) {
    const auto sw = edges_[edge].switch_index;
    if (const auto port = switches_[sw]->port_behind(switches_[sw]->lane(0), *packet, arrived)) {
      const auto found = std::ranges::find_if(
          edges, [&](std::uint32_t e) { return port == edges_[e].port_index; });
      if (found != edges.end()) edge = *found;
    }
  }
  ingress_[edge]->push(packet, arrived);
}

std::vector<Switch*> SwitchNetwork::switches() const {
  std::vector<Switch*> all;
  for (const auto& sw : switches_) all.push_back(sw.get());
  return all;
}

void SwitchNetwork::apply(ReloadChange& change, Time now) noexcept {
  for (std::size_t s = 0; s < switches_.size(); ++s) switches_[s]->apply(change.switches[s], now);
}

void SwitchNetwork::flush() noexcept {
  for (auto& sw : switches_) sw->flush();
  for (auto& link : links_) link->flush();
}

void SwitchNetwork::publish(SwitchSnapshots& to, LoopSnapshot loop, Time now) noexcept {
  for (const auto& link : links_) loop.on_links += link->resident();
  to.loop(0).write(loop);
  for (std::size_t s = 0; s < switches_.size(); ++s) switches_[s]->publish(to.cells(s), now);
}

SwitchReport SwitchNetwork::report(Time now) const {
  SwitchReport r;
  r.bin_ns = config_.bin.count();
  r.end_ns = now.time_since_epoch().count();
  r.ledger_balanced = true;
  for (const auto& sw : switches_) sw->fill(r, now);
  for (const auto& link : links_) r.on_links += link->resident();
  // Identity across switches: every packet that entered at the edges has left at the edges, was
  // dropped, or is still inside.
  std::uint64_t entered = 0, left = 0, dropped = 0;
  for (const auto* link : ingress_) entered += link->pushed();
  for (const auto* link : egress_) left += link->delivered();
  for (const auto& by_reason : r.drops.values)
    dropped = std::accumulate(by_reason.begin(), by_reason.end(), dropped);
  r.ledger_balanced &= entered + r.copied == left + dropped + r.resident + r.on_links;
  return r;
}

std::uint64_t SwitchNetwork::resident() const noexcept {
  std::uint64_t n = 0;
  for (const auto& sw : switches_)
    for (std::uint32_t p = 0; p < sw->ports(); ++p) n += sw->port(p).resident();
  for (const auto& link : links_) n += link->resident();
  return n;
}

}  // namespace outrider::sw
