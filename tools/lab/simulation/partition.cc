#include "tools/lab/simulation/partition.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "common/config/config_result.h"
#include "common/core/units.h"
#include "common/net/headers.h"
#include "switch/config/queue_config.h"
#include "switch/forwarding/forwarder.h"
#include "tools/lab/simulation/edge_hosts.h"
#include "tools/lab/simulation/metis_cut.h"
#include "trafficgen/config/lcore_plan.h"

namespace outrider::lab {
namespace {

/// The shortest frame that anybody sends: an ARP packet, or a UDP header without data.
constexpr std::uint32_t kLeastFrame_bytes = 42;

/// With so many, what a tile needs is about as much as the caches of one core have.
constexpr std::size_t kHostsPerTile = 16;
/// A tile that can send fewer in a window costs more to turn to than it saves.
constexpr std::uint64_t kLeastPackets = 100;

struct WirePort {
  std::size_t of_switch = 0;
  const sw::SwitchPortConfig* config = nullptr;
};

/// @pre the configuration is valid
WirePort port_named(const sw::SwitchProcessConfig& c, const std::string& text) {
  const auto dot = text.find('.');
  const auto sw = std::ranges::find(c.switches, text.substr(0, dot), &sw::SwitchConfig::name);
  return {static_cast<std::size_t>(sw - c.switches.begin()),
          &*std::ranges::find(sw->ports, text.substr(dot + 1), &sw::SwitchPortConfig::name)};
}

/// Returns hosts_behind() of a network that is not built.
std::vector<std::uint32_t> hosts_by_routes(const sw::SwitchProcessConfig& switches,
                                           const tg::GeneratorConfig& traffic,
                                           std::span<const sw::EdgePort> edges) {
  std::optional<sw::Forwarder> forwarder;
  std::uint32_t whose = 0;
  return hosts_behind(edges, traffic, [&](std::uint32_t s, std::uint32_t address) {
    if (!forwarder || s != whose) forwarder.emplace(switches.switches[whose = s], s);
    return forwarder->port_to(address);
  });
}

/// One wire, of which either direction may be cut. Ends are numbers of nodes: switches, then hosts.
struct Wire {
  std::size_t a = 0, b = 0;
  std::uint32_t number = 0;  ///< of the direction from a to b; that from b to a has the next
  Duration delay{};
  Serializer from_a, from_b;
};

std::vector<Wire> wires_of(const sw::SwitchProcessConfig& switches,
                           const tg::GeneratorConfig& traffic, std::span<const sw::EdgePort> edges,
                           const std::vector<std::uint32_t>& behind) {
  std::vector<Wire> wires;
  const auto of = [](const sw::SwitchPortConfig& port) {
    return Serializer(port.drain_rate, port.rate_layer);
  };
  for (std::size_t i = 0; i < switches.links.size(); ++i) {
    const WirePort a = port_named(switches, switches.links[i].a);
    const WirePort b = port_named(switches, switches.links[i].b);
    wires.push_back({a.of_switch, b.of_switch, sw::trunk_wire(i, true), switches.links[i].delay,
                     of(*a.config), of(*b.config)});
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const std::uint32_t s = edges[e].switch_index;
    const sw::SwitchPortConfig& port = switches.switches[s].ports[edges[e].port_index];
    wires.push_back({switches.switches.size() + behind[e], s,
                     sw::inward_wire(switches.links.size(), e), port.delay,
                     Serializer(traffic.hosts[behind[e]].rate, RateLayer::kL1), of(port)});
  }
  return wires;
}

/// Nodes that must be on one rank.
class Units {
 public:
  explicit Units(std::size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  void join(std::size_t a, std::size_t b) {
    parent_[std::max(of(a), of(b))] = std::min(of(a), of(b));
  }
  [[nodiscard]] std::size_t of(std::size_t node) const {
    while (parent_[node] != node) node = parent_[node];
    return node;
  }

 private:
  std::vector<std::size_t> parent_;
};

struct Unit {
  std::size_t first = 0;     ///< its lowest node
  std::size_t home = 0;      ///< the first switch that it has or is cabled to
  std::uint64_t weight = 0;  ///< ports, two for each host: it sends and receives
};

/// Returns the units in the order of their homes.
std::vector<Unit> listed(const Units& units, const std::vector<Wire>& wires, std::size_t switches,
                         std::size_t nodes) {
  std::vector<Unit> all(nodes);
  for (std::size_t n = 0; n < nodes; ++n) all[n] = {n, nodes, 0};
  for (std::size_t n = 0; n < switches; ++n)
    all[units.of(n)].home = std::min(all[units.of(n)].home, n);
  for (const Wire& w : wires) {
    const bool cable = w.a >= switches;
    Unit& a = all[units.of(w.a)];
    a.weight += cable ? 2 : 1;
    ++all[units.of(w.b)].weight;
    if (cable && a.first >= switches) a.home = std::min(a.home, w.b);
  }
  std::erase_if(all, [&](const Unit& u) { return units.of(u.first) != u.first; });
  std::ranges::stable_sort(all, {}, &Unit::home);
  return all;
}

/// Returns how long after its beginning a packet arrives at the earliest: from a, and from b.
std::pair<Duration, Duration> lookaheads_of(const Wire& w) {
  return {w.delay + w.from_a.duration_of(kLeastFrame_bytes),
          w.delay + w.from_b.duration_of(kLeastFrame_bytes)};
}

/// Deals units in the order of their homes to `parts` parts. @return [units] part
std::vector<std::uint32_t> deal_in_order(const std::vector<Unit>& units, std::uint32_t parts,
                                         CutKind kind) {
  std::vector<std::uint32_t> part_of;
  std::uint64_t total = 0, before = 0;
  for (const Unit& u : units) total += u.weight;
  std::uint32_t part = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (kind == CutKind::kTurns) {
      part_of.push_back(static_cast<std::uint32_t>(i % parts));
      continue;
    }
    // The next part begins where this one has its share, or where each of the others needs a unit.
    const std::size_t left = units.size() - i;
    const bool has_one = !part_of.empty() && part_of.back() == part;
    const bool full = before * parts >= total * (part + 1);
    if (has_one && part + 1 < parts && (full || left == parts - part - 1)) ++part;
    part_of.push_back(part);
    before += units[i].weight;
  }
  return part_of;
}

/// Fills in which directions of which wires are cut, and what follows from them.
/// @param part_of  [nodes]
void find_cuts(Partition& p, const std::vector<Wire>& wires,
               const std::vector<std::uint32_t>& part_of) {
  p.lookahead = Partition::kUncut;
  for (const Wire& w : wires) {
    if (part_of[w.a] == part_of[w.b]) continue;
    const auto [from_a, from_b] = lookaheads_of(w);
    p.lookahead = std::min({p.lookahead, from_a, from_b});
    const std::uint32_t a = part_of[w.a] / p.tiles, b = part_of[w.b] / p.tiles;
    if (a == b) continue;  // a wire between two tiles of a rank leads from loop to loop
    p.cuts.push_back({w.number, a, b, from_a});
    p.cuts.push_back({w.number + 1, b, a, from_b});
  }
  const auto packets = [&](const Serializer& of) {
    const auto each = of.duration_of(sw::kFullFrameBytes).count();
    return static_cast<std::uint64_t>(p.lookahead.count() / std::max<std::int64_t>(each, 1));
  };
  p.packets_per_window.resize(p.ranks);
  for (const Wire& w : wires) {
    if (p.lookahead == Partition::kUncut) break;
    p.packets_per_window[part_of[w.a] / p.tiles] += packets(w.from_a);
    p.packets_per_window[part_of[w.b] / p.tiles] += packets(w.from_b);
  }
}

/// The units of a case, which are dealt whole, and the wires between them.
struct Parts {
  std::vector<Unit> list;
  std::vector<Wire> wires;
  std::size_t switches = 0;          ///< how many of the nodes
  std::vector<std::size_t> unit_of;  ///< [nodes] in `list`
};

Parts parts_of(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
               std::vector<Wire> wires) {
  const std::size_t first_host = switches.switches.size();
  const std::size_t nodes = first_host + traffic.hosts.size();
  const auto group_of_host = tg::host_groups(traffic);
  Units units(nodes);
  for (std::size_t h = 0; h < group_of_host.size(); ++h)
    units.join(first_host + h, first_host + group_of_host[h]);
  for (const Wire& w : wires)
    if (w.delay == Duration::zero()) units.join(w.a, w.b);
  std::vector<Unit> list = listed(units, wires, first_host, nodes);
  std::vector<std::size_t> unit_of(nodes);
  for (std::size_t i = 0; i < list.size(); ++i) unit_of[list[i].first] = i;
  for (std::size_t n = 0; n < nodes; ++n) unit_of[n] = unit_of[units.of(n)];
  return {std::move(list), std::move(wires), first_host, std::move(unit_of)};
}

/// Returns the units and the wires between them. A wire weighs as much as the rounds that it costs
/// if it is the shortest that is cut: one that allows a tenth of the longest wire's window weighs
/// as much as ten of those.
CutGraph graph_of(const Parts& parts) {
  CutGraph graph;
  for (const Unit& u : parts.list) graph.weights.push_back(u.weight);
  const auto window_of = [](const Wire& w) {
    const auto [from_a, from_b] = lookaheads_of(w);
    return static_cast<double>(std::max(std::min(from_a, from_b).count(), std::int64_t{1}));
  };
  double longest = 1;
  for (const Wire& w : parts.wires) longest = std::max(longest, window_of(w));
  for (const Wire& w : parts.wires)
    graph.edges.push_back({parts.unit_of[w.a], parts.unit_of[w.b], longest / window_of(w)});
  return graph;
}

/// Deals the units to tiles of each rank. @pre there are as many
Partition dealt_to(Partition p, const Parts& parts, CutKind cut, std::uint32_t tiles) {
  p.tiles = tiles;
  const auto of_unit = cut == CutKind::kMetis ? cut_by_metis(graph_of(parts), p.ranks, tiles)
                                              : deal_in_order(parts.list, p.ranks * tiles, cut);
  std::vector<std::uint32_t> part_of;
  for (std::size_t n = 0; n < parts.unit_of.size(); ++n) {
    part_of.push_back(of_unit[parts.unit_of[n]]);
    const bool is_switch = n < parts.switches;
    (is_switch ? p.of_switch : p.of_host).push_back(part_of[n] / tiles);
    (is_switch ? p.tile_of_switch : p.tile_of_host).push_back(part_of[n] % tiles);
  }
  find_cuts(p, parts.wires, part_of);
  return p;
}

bool has_work_for_tiles(const Partition& p) {
  return std::ranges::min(p.packets_per_window) / p.tiles >= kLeastPackets;
}

}  // namespace

Partition make_partition(const sw::SwitchProcessConfig& switches,
                         const tg::GeneratorConfig& traffic, std::uint32_t ranks, CutKind cut,
                         std::uint32_t tiles) {
  Partition p{.ranks = ranks};
  if (!traffic.streams.empty())
    throw std::runtime_error("stream " + traffic.streams.front().name +
                             ": a case with streams runs on one rank alone");
  const std::vector<sw::EdgePort> edges = edge_ports(switches);
  p.host_behind = hosts_by_routes(switches, traffic, edges);
  check_cabled(switches, traffic, edges, p.host_behind, false);
  const Parts parts =
      parts_of(switches, traffic, wires_of(switches, traffic, edges, p.host_behind));
  if (parts.list.size() < ranks)
    throw std::runtime_error(
        std::to_string(ranks) + " ranks, but the case has " + std::to_string(parts.list.size()) +
        (parts.list.size() == 1 ? " part" : " parts") +
        ": a part is a switch, or the hosts that share traffic; wires without delay join parts. "
        "Take fewer ranks");
  // Samples of connections are of one instant for all hosts of a rank: its tiles are not.
  const std::size_t most =
      traffic.connection_sample_period ? 1 : parts.list.size() / std::size_t{ranks};
  const std::size_t wanted = tiles != 0 ? tiles : traffic.hosts.size() / kHostsPerTile / ranks;
  const Partition tiled =
      dealt_to(p, parts, cut, static_cast<std::uint32_t>(std::clamp<std::size_t>(wanted, 1, most)));
  return tiles != 0 || tiled.tiles == 1 || has_work_for_tiles(tiled) ? tiled
                                                                     : dealt_to(p, parts, cut, 1);
}

void check_work(const Partition& partition, std::uint64_t least) {
  if (partition.cuts.empty()) return;
  const auto fewest = std::ranges::min_element(partition.packets_per_window);
  if (*fewest >= least) return;
  throw std::runtime_error("rank " + std::to_string(fewest - partition.packets_per_window.begin()) +
                           " of " + std::to_string(partition.ranks) + " can send at most " +
                           std::to_string(*fewest) + " packets in a window of " +
                           std::to_string(partition.lookahead.count()) +
                           " ns, and would mostly wait for the others. Take fewer ranks, or accept "
                           "it with --least-work " +
                           std::to_string(*fewest));
}

sw::NetworkShare share_of(const RankPart& part, std::size_t switches, std::size_t edges) {
  sw::NetworkShare share;
  if (part.partition == nullptr) return share;
  for (std::size_t s = 0; s < switches; ++s) share.switches.push_back(part.has_switch(s));
  for (std::size_t e = 0; e < edges; ++e)
    share.outside.push_back(part.has_host(part.partition->host_behind[e]));
  return share;
}

}  // namespace outrider::lab
