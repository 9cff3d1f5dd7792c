#include "switch/runtime/network.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

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

std::vector<EdgePort> edge_ports(const SwitchProcessConfig& config) {
  std::vector<EdgePort> edges;
  for (std::uint32_t s = 0; s < config.switches.size(); ++s) {
    const auto& ports = config.switches[s].ports;
    for (std::uint32_t p = 0; p < ports.size(); ++p)
      if (ports[p].device) edges.push_back({s, p, *ports[p].device, ports[p].delay});
  }
  return edges;
}

void SwitchNetwork::Elsewhere::receive(std::uint32_t, Packet* packet, Time) noexcept {
  release(packet);  // the identity of cut wires counts it as lost
}

SwitchNetwork::SwitchNetwork(const SwitchProcessConfig& config, EventLoop& loop, NetworkShare share)
    : config_(config), loop_(loop), share_(std::move(share)) {
  const EgressPort::Limits limits{
      .tap = {.bursts = config.max_burst_records, .bins = config.max_bins, .bin = config.bin},
      .seed = config.seed};
  for (std::uint32_t s = 0; s < config_.switches.size(); ++s) {
    switches_.emplace_back();
    if (share_.has_switch(s))
      switches_.back() =
          std::make_unique<Switch>(config_.switches[s], share_.loop_of(s, loop_), limits, 1, s);
  }
  make_trunks();
  make_edges();
}

Link* SwitchNetwork::make_wire(std::uint32_t number, Duration delay, Node* to,
                               std::uint32_t to_port, bool from, EventLoop& loop) {
  if (to == nullptr && !from) return nullptr;
  Node& end = to != nullptr ? *to : elsewhere_;
  links_.push_back(std::make_unique<Link>(loop, delay, end, to_port));
  if (to == nullptr) leaving_.push_back({number, links_.back().get()});
  if (!from) coming_.push_back({number, links_.back().get()});
  return links_.back().get();
}

void SwitchNetwork::make_trunks() {
  const auto join = [this](std::uint32_t number, PortRef from, PortRef to, Duration delay) {
    Switch* const sender = switches_[from.switch_index].get();
    Link* const wire = make_wire(number, delay, switches_[to.switch_index].get(), to.port_index,
                                 sender != nullptr, share_.loop_of(to.switch_index, loop_));
    if (sender != nullptr) sender->port(from.port_index).transmitter().output().connect(*wire);
  };
  for (std::size_t i = 0; i < config_.links.size(); ++i) {
    const SwitchLinkConfig& link = config_.links[i];
    const PortRef a = find_port(config_, link.a);
    const PortRef b = find_port(config_, link.b);
    join(trunk_wire(i, true), a, b, link.delay);
    join(trunk_wire(i, false), b, a, link.delay);
  }
}

void SwitchNetwork::make_edges() {
  edges_ = edge_ports(config_);
  by_device_.resize(config_.devices.size());
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    const EdgePort& edge = edges_[i];
    const auto device = std::ranges::find(config_.devices, edge.device, &DeviceConfig::name);
    by_device_[static_cast<std::size_t>(device - config_.devices.begin())].push_back(i);
    ingress_.push_back(make_wire(inward_wire(config_.links.size(), i), edge.delay,
                                 switches_[edge.switch_index].get(), edge.port_index,
                                 share_.has_outside(i), share_.loop_of(edge.switch_index, loop_)));
  }
}

SwitchNetwork::~SwitchNetwork() = default;

void SwitchNetwork::connect(std::uint32_t edge, Node& to, std::uint32_t to_port, EventLoop* loop) {
  const EdgePort& e = edges_[edge];
  Switch* const from = switches_[e.switch_index].get();
  egress_.push_back(make_wire(outward_wire(config_.links.size(), edge), e.delay, &to, to_port,
                              from != nullptr, loop != nullptr ? *loop : loop_));
  if (from != nullptr) from->port(e.port_index).transmitter().output().connect(*egress_.back());
}

void SwitchNetwork::connect_elsewhere(std::uint32_t edge) {
  const EdgePort& e = edges_[edge];
  egress_.push_back(make_wire(outward_wire(config_.links.size(), edge), e.delay, nullptr, 0, true,
                              share_.loop_of(e.switch_index, loop_)));
  switches_[e.switch_index]->port(e.port_index).transmitter().output().connect(*egress_.back());
}

void SwitchNetwork::attribute(std::uint32_t owners) {
  for (auto& sw : switches_)
    for (std::uint32_t p = 0; sw != nullptr && p < sw->ports(); ++p) sw->port(p).attribute(owners);
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
    if (const auto port = port_behind(switches_[sw]->lane(0), *packet, arrived)) {
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

void SwitchNetwork::change_to(const SwitchProcessConfig& wanted, Time now) {
  for (std::size_t s = 0; s < switches_.size(); ++s) {
    if (switches_[s] == nullptr) continue;
    SwitchChange change = switches_[s]->prepare(config_.switches[s], wanted.switches[s]);
    switches_[s]->apply(change, now);
    switches_[s]->retire(change);
    config_.switches[s] = wanted.switches[s];
  }
}

bool SwitchNetwork::is_inward(std::uint32_t wire) const noexcept {
  return wire >= 2 * config_.links.size() && wire % 2 == 0;
}

void SwitchNetwork::flush() noexcept {
  for (auto& sw : switches_)
    if (sw != nullptr) sw->flush();
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
  for (const auto& sw : switches_)
    if (sw != nullptr) sw->fill(r, now);
  for (const auto& link : links_) r.on_links += link->resident();
  // Identity across switches: every packet that entered, at the edges or from another process, has
  // left, was dropped, or is still inside.
  std::uint64_t entered = 0, left = 0, dropped = 0;
  for (const auto* link : ingress_)
    if (link != nullptr) entered += link->pushed();
  for (const auto* link : egress_) left += link->delivered();
  for (const auto& link : links_) left += link->crossed();
  for (const CutWire& wire : coming_)
    if (!is_inward(wire.number)) entered += wire.link->pushed();
  for (const auto& by_reason : r.drops.values)
    dropped = std::accumulate(by_reason.begin(), by_reason.end(), dropped);
  r.ledger_balanced &= entered + r.copied + r.pause_frames ==
                       left + dropped + r.pauses_taken + r.resident + r.on_links;
  return r;
}

std::uint64_t SwitchNetwork::resident() const noexcept {
  std::uint64_t n = 0;
  for (const auto& sw : switches_)
    for (std::uint32_t p = 0; sw != nullptr && p < sw->ports(); ++p)
      n += waiting_packets(sw->port(p));
  for (const auto& link : links_) n += link->resident();
  return n;
}

}  // namespace outrider::sw
