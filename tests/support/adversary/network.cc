#include "tests/support/adversary/network.h"

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/config/addresses.h"
#include "switch/config/port_index.h"

namespace outrider {
RegulationPolicy& trunk_policy(sw::SwitchProcessConfig& of) {
  sw::SwitchConfig& left = of.switches[kLeftPlace];
  return left.ports[index_of_port(left, kTrunkPort)].regulation;
}

/// A node before a port of a switch, or behind it.
struct AdversaryNetwork::Observer final : Node {
  Observer(AdversaryNetwork& of, std::uint32_t at, bool enters)
      : network(of), place(at), in(enters) {}
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    if (in) network.watcher_.enter(place, port, packet, now, true);
    else network.leave(place, port, packet, now);
  }
  AdversaryNetwork& network;
  std::uint32_t place;
  bool in;
};

AdversaryNetwork::AdversaryNetwork(std::uint64_t seed, rte_mempool& pool, Watcher& watcher)
    : seed_(seed), drawn_(draw_network(seed)), pool_(pool), watcher_(watcher) {
  generator_ = std::make_unique<tg::Generator>(drawn_.traffic, loop_, pool_,
                                               tg::Generator::Options{.signal_keys = drawn_.keys});
  build_places();
  connect_hosts();
}

AdversaryNetwork::~AdversaryNetwork() {
  refill_pool();
  for (auto& place : places_) place.sw->flush();
  for (auto& link : links_) link->flush();
  for (auto* side : {&up_, &down_})
    for (auto& impairment : *side) impairment->flush();
}

std::uint32_t AdversaryNetwork::port_of(std::uint32_t place, std::string_view name) const {
  return index_of_port(drawn_.switches.switches[place], std::string(name));
}

sw::EgressPort& AdversaryNetwork::trunk() {
  return at(kLeftPlace).port(port_of(kLeftPlace, kTrunkPort));
}

std::unique_ptr<sw::Switch> AdversaryNetwork::make_switch(std::uint32_t place) {
  const sw::EgressPort::Limits limits{
      .tap = {.bursts = 16, .bins = 16, .bin = std::chrono::milliseconds(1)}, .seed = seed_};
  return std::make_unique<sw::Switch>(drawn_.switches.switches[place], loop_, limits, 1, place);
}

void AdversaryNetwork::build_places() {
  for (std::uint32_t s = kLeftPlace; s <= kRightPlace; ++s) {
    const std::size_t ports = drawn_.switches.switches[s].ports.size();
    Place& place = places_.emplace_back();
    place.sw = make_switch(s);
    place.beyond.resize(ports);
    place.down_until.resize(ports);
    for (std::size_t p = 0; p < ports; ++p)
      for (const bool in : {true, false}) {
        observers_.push_back(std::make_unique<Observer>(*this, s, in));
        (in ? place.entries : place.exits).push_back(observers_.back().get());
      }
  }
  places_[kLeftPlace].beyond[port_of(kLeftPlace, kTrunkPort)] = places_[kRightPlace].entries[0];
  places_[kRightPlace].beyond[port_of(kRightPlace, kTrunkPort)] = places_[kLeftPlace].entries[0];
  connect_ports(kLeftPlace);
  connect_ports(kRightPlace);
}

/// Gives every port of a new switch a link of its own: that of the old one may hold packets that
/// are sent later than now.
void AdversaryNetwork::connect_ports(std::uint32_t place) {
  const auto& ports = drawn_.switches.switches[place].ports;
  for (std::uint32_t p = 0; p < ports.size(); ++p) {
    const Duration delay = is_trunk(place, p) ? drawn_.switches.links[0].delay : ports[p].delay;
    links_.push_back(std::make_unique<Link>(loop_, delay, *places_[place].exits[p], p));
    places_[place].sw->port(p).transmitter().output().connect(*links_.back());
  }
}

void AdversaryNetwork::connect_hosts() {
  const auto& hosts = drawn_.traffic.hosts;
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    const std::uint32_t s = hosts[i].device == "left" ? kLeftPlace : kRightPlace;
    const std::uint32_t p = *places_[s].sw->route(*parse_ipv4(hosts[i].address).value);
    links_.push_back(std::make_unique<Link>(loop_, drawn_.switches.switches[s].ports[p].delay,
                                            *places_[s].entries[p], p));
    Link& ingress = *links_.back();
    Node& node = generator_->host(i);
    up_.push_back(std::make_unique<Impairment>(
        loop_, pool_, [&ingress](Packet* packet, Time at) { ingress.push(packet, at); }));
    down_.push_back(std::make_unique<Impairment>(
        loop_, pool_, [&node](Packet* packet, Time at) { node.receive(0, packet, at); }));
    places_[s].beyond[p] = down_.back().get();
    links_.push_back(std::make_unique<Link>(loop_, Duration::zero(), *up_.back(), 0));
    generator_->connect(i, *links_.back());
  }
}

bool AdversaryNetwork::cuts(std::uint32_t place, std::uint32_t port, Packet* packet, Time now) {
  if (now >= places_[place].down_until[port]) return false;
  ++cut_;
  release(packet);
  return true;
}

void AdversaryNetwork::leave(std::uint32_t place, std::uint32_t port, Packet* packet, Time now) {
  if (cuts(place, port, packet, now)) return;
  watcher_.on_left(place, port, *packet);
  if (Node* beyond = places_[place].beyond[port]) {
    const std::uint32_t far = is_trunk(place, port) ? port_of(1 - place, kTrunkPort) : 0;
    return beyond->receive(far, packet, now);
  }
  ++to_strangers_;
  release(packet);
}

bool AdversaryNetwork::restart(std::uint32_t place, Time now) {
  Place& at = places_[place];
  sw::SwitchReport r;
  r.ledger_balanced = true;
  at.sw->fill(r, now);
  lost_in_restarts_ += r.resident;
  dropped_by_retired_ += sum(r.drops);
  at.sw->flush();
  retired_.push_back(std::move(at.sw));
  for (auto& signer : drawn_.switches.switches[place].signals.signers)
    for (auto& key : signer.read_keys)
      key.floor = static_cast<std::uint64_t>(now.time_since_epoch().count());
  at.sw = make_switch(place);
  connect_ports(place);
  return r.ledger_balanced;
}

void AdversaryNetwork::impair(const RandomImpairment& rates, std::uint64_t draw) {
  for (std::uint32_t i = 0; i < up_.size(); ++i) {
    up_[i]->set_rule(random_rule(rates, draw, 2 * i));
    down_[i]->set_rule(random_rule(rates, draw, 2 * i + 1));
  }
}

void AdversaryNetwork::set_down(std::uint32_t place, std::uint32_t port, Time until) {
  Time& down = places_[place].down_until[port];
  down = std::max(down, until);
}

void AdversaryNetwork::drain_pool(std::uint32_t leave) {
  while (rte_mempool_avail_count(&pool_) > leave) drained_.push_back(rte_pktmbuf_alloc(&pool_));
}

void AdversaryNetwork::refill_pool() {
  for (Packet* packet : drained_) release(packet);
  drained_.clear();
}

std::optional<std::string> AdversaryNetwork::ledger_fault(std::uint64_t injected, Time now) const {
  sw::SwitchReport r;
  r.ledger_balanced = true;
  for (const auto& place : places_) place.sw->fill(r, now);
  const tg::GeneratorReport traffic = generator_->report(now);
  if (!r.ledger_balanced) return "the ledger of a switch is not balanced";
  if (!traffic.ledger_balanced) return "the ledger of the hosts is not balanced";
  std::uint64_t in = traffic.sent + injected;
  std::uint64_t out = traffic.received + sum(r.drops) + r.resident + cut_ + to_strangers_ +
                      lost_in_restarts_ + dropped_by_retired_;
  std::uint64_t resident = r.resident + drained_.size();
  for (const auto* side : {&up_, &down_})
    for (const auto& impairment : *side) {
      in += impairment->copied();
      out += impairment->dropped() + impairment->held();
      resident += impairment->held();
    }
  for (const auto& link : links_) {
    out += link->resident();
    resident += link->resident();
  }
  if (in != out)
    return std::to_string(in) + " packets were sent, " + std::to_string(out) + " have an end";
  if (rte_mempool_in_use_count(&pool_) != resident)
    return std::to_string(rte_mempool_in_use_count(&pool_)) + " buffers are in use by " +
           std::to_string(resident) + " packets";
  return std::nullopt;
}

}  // namespace outrider
