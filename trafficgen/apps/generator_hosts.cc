#include "trafficgen/apps/generator_hosts.h"

#include <algorithm>
#include <limits>

#include "common/config/addresses.h"
#include "common/net/headers.h"
#include "common/net/pause_frame.h"
#include "common/telemetry/add_fields.h"
#include "trafficgen/config/transport_reserve.h"
#include "trafficgen/hosts/expected_flows.h"
#include "trafficgen/hosts/host_totals.h"
#include "trafficgen/transport/connection/initial_sequence.h"

namespace outrider::tg {

namespace {

/// Returns a number of half-open connections that the hosts' own traffic never reaches at one host.
std::uint32_t max_half_open(const GeneratorConfig& config, std::uint32_t expected) {
  std::uint64_t own = std::uint64_t{Host::Setup{}.max_half_open} + expected;
  for (const FlowsConfig& flows : config.flows) own += flows.max_open.value_or(kMaxOpenFlows);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(own, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::uint32_t owners_of(const GeneratorConfig& config) noexcept {
  std::size_t owners = 0;
  for (const auto& job : config.jobs) owners += job.workers.size() * (1 + job.arrivals.size());
  return config.attribution ? static_cast<std::uint32_t>(owners) : 0;
}

GeneratorHosts::GeneratorHosts(const GeneratorConfig& config, const Generator::Options& options,
                               EventLoop& loop, rte_mempool& pool)
    : config_(config),
      options_(options),
      memory_(transport_reserve(traffic_of(config, options.share))),
      behind_(config.devices.size()) {
  make_hosts(loop, pool);
  for (std::uint32_t i = 0; i < config.devices.size(); ++i)
    neighbours_.push_back(make_neighbours(i, loop, pool));
}

void GeneratorHosts::make_hosts(EventLoop& loop, rte_mempool& pool) {
  const std::vector<std::uint32_t> expected = expected_connections(config_);
  for (std::uint32_t i = 0; i < config_.hosts.size(); ++i) {
    const HostConfig& h = config_.hosts[i];
    const std::uint32_t address = *parse_ipv4(h.address).value;
    by_address_.emplace_back(address, i);
    device_of_.push_back(device_of(config_, h));
    hosts_.emplace_back();
    if (!options_.share.has_host(i)) continue;
    hosts_.back() = std::make_unique<Host>(
        Host::Setup{.name = h.name,
                    .address = address,
                    .rate = h.rate,
                    .mtu_bytes = h.mtu_bytes,
                    .tso_bytes = h.tso_bytes,
                    .pause_storm = h.pause_storm,
                    .send_jitter = config_.send_jitter,
                    .seed = config_.seed,
                    .sequence_key = options_.sequence_key.value_or(sequence_key_of(config_.seed)),
                    .index = i,
                    .full_payload = options_.full_payload,
                    .payload = config_.payload,
                    .expected_connections = expected[i],
                    .max_half_open = max_half_open(config_, expected[i]),
                    .owners = owners_of(config_)},
        options_.loops.empty() ? loop : *options_.loops[i], pool, memory_);
    if (device_of_[i] < behind_.size()) behind_[device_of_[i]].push_back(hosts_.back().get());
  }
  std::ranges::sort(by_address_);
}

/// Makes an edge for a device that uses ARP or has configured neighbours.
std::unique_ptr<NeighbourEdge> GeneratorHosts::make_neighbours(std::uint32_t device,
                                                               EventLoop& loop,
                                                               rte_mempool& pool) const {
  const GeneratorDeviceConfig& d = config_.devices[device];
  NeighbourEdge::Setup setup{.device = d.name, .table = {.ask = d.arp.arp}};
  for (const auto& n : config_.neighbours)
    if (n.device == d.name)
      setup.table.fixed.push_back({*parse_ipv4(n.address).value, *parse_mac(n.mac).value});
  if (!options_.share.has_device(device)) return nullptr;
  if (!d.arp.arp && setup.table.fixed.empty()) return nullptr;
  if (d.arp.subnet) setup.table.subnet = parse_prefix(*d.arp.subnet).value;
  if (d.arp.gateway) setup.table.gateway = parse_ipv4(*d.arp.gateway).value;
  for (std::size_t i = 0; i < config_.hosts.size(); ++i) {
    setup.hosts.push_back(*parse_ipv4(config_.hosts[i].address).value);
    if (d.arp.arp && device_of_[i] == device) setup.own.push_back(setup.hosts.back());
  }
  return std::make_unique<NeighbourEdge>(setup, loop, pool);
}

// -- which host

Host* GeneratorHosts::named(const std::string& name) const {
  const auto it = std::ranges::find(config_.hosts, name, &HostConfig::name);
  return hosts_[static_cast<std::size_t>(it - config_.hosts.begin())].get();
}

std::vector<Host*> GeneratorHosts::named(const std::vector<std::string>& names) const {
  std::vector<Host*> found;
  found.reserve(names.size());
  for (const auto& name : names) found.push_back(named(name));
  return found;
}

std::optional<std::uint32_t> GeneratorHosts::index_of(std::uint32_t address) const noexcept {
  const auto it = std::ranges::lower_bound(by_address_, address, {},
                                           &std::pair<std::uint32_t, std::uint32_t>::first);
  if (it == by_address_.end() || it->first != address) return std::nullopt;
  return it->second;
}

Host* GeneratorHosts::at(std::uint32_t address, std::uint32_t device) const noexcept {
  const auto index = index_of(address);
  return index && device_of_[*index] == device ? hosts_[*index].get() : nullptr;
}

Node* GeneratorHosts::elsewhere(std::uint32_t address, std::uint32_t device) const noexcept {
  const auto index = index_of(address);
  if (others_.empty() || !index || device_of_[*index] != device) return nullptr;
  return others_[options_.share.plan.of_host[*index]];
}

// -- devices

Node& GeneratorHosts::egress(std::uint32_t device, Node& edge) noexcept {
  NeighbourEdge* neighbours = neighbours_[device].get();
  if (neighbours == nullptr) return edge;
  neighbours->connect(edge);
  return *neighbours;
}

void GeneratorHosts::connect_lcore(std::uint32_t lcore, Node& to) {
  const auto& of_host = options_.share.plan.of_host;
  others_.resize(std::size_t{1} + *std::ranges::max_element(of_host));
  others_[lcore] = &to;
}

void GeneratorHosts::expect(std::uint32_t device, std::span<Packet* const> packets) const noexcept {
  ExpectedFlows expected;
  for (Packet* packet : packets) {
    const auto flow = peek_flow(*packet);
    Host* host = flow ? at(flow->destination_address, device) : nullptr;
    if (host != nullptr) expected.add(*host, *flow);
  }
  expected.prefetch();
}

bool GeneratorHosts::take_pause(std::uint32_t device, Packet* packet, Time now) noexcept {
  const auto frame = decode_pause_frame(buffer(*packet));
  if (!frame) return false;
  bool obeyed = false;
  for (Host* host : behind_[device]) obeyed |= host->obey(*frame, now);
  if (!obeyed) return false;
  ++pauses_taken_;
  release(packet);
  return true;
}

void GeneratorHosts::receive(std::uint32_t device, Packet* packet, Time now) noexcept {
  if (NeighbourEdge* neighbours = neighbours_[device].get();
      neighbours != nullptr && neighbours->take(packet, now))
    return;
  const auto bytes = buffer(*packet);
  if (bytes.size() < sizeof(EthernetHeader) + sizeof(Ipv4Header)) {
    ++malformed_;
    return release(packet);
  }
  if (header_at<EthernetHeader>(*packet, 0).ether_type.get() != kEtherTypeIpv4) {
    if (take_pause(device, packet, now)) return;
    ++not_ipv4_;
    return release(packet);
  }
  const auto& ip = header_at<Ipv4Header>(*packet, sizeof(EthernetHeader));
  const std::uint32_t address = ip.destination.get();
  if (Host* host = at(address, device); host != nullptr) [[likely]]
    return host->receive(0, packet, now);
  if (Node* other = elsewhere(address, device); other != nullptr)
    return other->receive(device, packet, now);
  ++unknown_host_;
  release(packet);
}

void GeneratorHosts::add_packets(TrafficLive& live) const noexcept {
  HostCounters of_hosts;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    if (hosts_[h] == nullptr) continue;
    const HostCounters& c = hosts_[h]->counters();
    add(of_hosts, c);
    live.add_sent(device_of_[h], c.sent, c.sent_bytes + kFcsBytes * c.sent);
  }
  live.received = of_hosts.received;
  live.received_bytes = of_hosts.received_bytes + kFcsBytes * of_hosts.received;
  live.drops = of_hosts.drops;
  live.consumed = of_hosts.consumed();
  base_of<NicCounts>(live) = of_hosts;
  base_of<SignalMessages>(live) = of_hosts;
  live.payload = of_hosts.payload;
  live.received += unknown_host_ + malformed_ + not_ipv4_ + pauses_taken_;
  live.consumed += pauses_taken_;
  live.pauses_taken += pauses_taken_;
  live.drops[DropReason::kNotIpv4] += not_ipv4_;
  live.drops[DropReason::kUnknownHost] += unknown_host_;
  live.drops[DropReason::kMalformed] += malformed_;
  for (const auto& edge : neighbours_) {
    if (edge == nullptr) continue;
    const NeighbourTotals totals = edge->totals();
    add_fields(live.neighbours, totals);
    live.received += totals.consumed();
    live.consumed += totals.consumed();
    live.drops[DropReason::kUnresolved] += edge->unresolved();
  }
}

}  // namespace outrider::tg
