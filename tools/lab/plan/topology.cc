#include "tools/lab/plan/topology.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "common/core/random.h"
#include "tools/lab/plan/host_places.h"

namespace outrider::lab {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kHostsPerByte = 250;  ///< values used of an address's third and fourth byte
constexpr std::size_t kMaxSwitches = 200;   ///< without a fabric: a /16 each
constexpr std::uint32_t kTen = 10U << 24;   ///< 10.0.0.0
constexpr std::size_t kTenSize = 1U << 24;  ///< addresses of 10.0.0.0/8
constexpr Duration kRttTolerance = std::chrono::nanoseconds(1);

template <class List>
std::size_t index_of(const List& list, const std::string& name) {
  const auto it = std::ranges::find_if(list, [&](const auto& e) { return e.name == name; });
  return static_cast<std::size_t>(it - list.begin());
}

const TrunkEntry& trunk_between(const ExperimentFile& e, const std::string& a,
                                const std::string& b) {
  return *std::ranges::find_if(e.trunks, [&](const TrunkEntry& t) {
    return (t.a == a && t.b == b) || (t.a == b && t.b == a);
  });
}

/// @param spread  HostGroupEntry::delay_spread
Duration spread_delay(Duration delay, double spread, std::uint64_t seed, std::uint32_t host) {
  if (spread == 0) return delay;
  RandomStream random(seed, host, RandomPurpose::kHostDelay);
  return from_seconds(seconds(delay) * (1 + spread * (2 * random.uniform() - 1)));
}

/// Returns the rate of a group's i-th host, see CaseParameters::worker_rate_spread.
/// @param rate  of its NIC without the spread
BitRate host_rate(const ExperimentFile& e, const std::string& group, const CaseParameters& p,
                  BitRate rate, std::uint32_t i) {
  if (p.worker_rate_spread == 0 || group != e.job.worker_group()) return rate;
  const double slower =
      1 + p.worker_rate_spread * (p.workers - 1 - i % p.workers) / std::max(1.0, p.workers - 1.0);
  return {static_cast<std::uint64_t>(static_cast<double>(rate.bits_per_second) / slower)};
}

/// Range of host numbers per group. Each group numbers its hosts in a range of its own, so
/// that an additional worker does not change the draws of other hosts.
constexpr std::uint32_t kEntitiesPerGroup = 1U << 16;

std::string address_text(std::uint32_t address) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += std::to_string(address >> shift & 0xFF) + (shift > 0 ? "." : "");
  return text;
}

/// Returns the bits of a host's number in its switch's prefix. Neither the first nor the last
/// address of a prefix is a host's.
int host_bits(const std::vector<std::uint32_t>& hosts) {
  return std::max(8, static_cast<int>(std::bit_width(std::ranges::max(hosts) + 1)));
}

/// Gives each switch that can have hosts its prefix. Without a fabric switch i has 10.(i + 1)/16.
/// In one, those with places have equal prefixes in a row, so that a pod is a prefix too.
/// @return nothing, with a fault, if 10.0.0.0/8 has no room for them
std::optional<std::vector<HostPrefix>> prefixes_of(const Checks& root, const ExperimentFile& e) {
  std::vector<HostPrefix> prefixes(e.switches.size());
  if (!e.in_fabric) {
    for (std::size_t s = 0; s < prefixes.size(); ++s)
      prefixes[s] = {kTen + (static_cast<std::uint32_t>(s + 1) << 16), 16};
    return prefixes;
  }
  std::vector<std::uint32_t> hosts(e.switches.size());
  for (const auto& slot : e.slots) ++hosts[slot.at_switch];
  const int bits = host_bits(hosts);
  const auto leaves =
      static_cast<std::size_t>(std::ranges::count_if(hosts, [](std::uint32_t n) { return n > 0; }));
  if (!root.require(leaves << bits <= kTenSize, "fabric",
                    std::to_string(leaves) + " switches with hosts, one of them with " +
                        std::to_string(std::ranges::max(hosts)),
                    "must fit into 10.0.0.0/8 with equal prefixes of 2^" + std::to_string(bits) +
                        " addresses"))
    return std::nullopt;
  std::uint32_t next = kTen;
  for (std::size_t s = 0; s < prefixes.size(); ++s) {
    if (hosts[s] == 0) continue;
    prefixes[s] = {next, static_cast<std::uint8_t>(32 - bits)};
    next += 1U << bits;
  }
  return prefixes;
}

std::string host_address(const ExperimentFile& e, const HostPrefix& prefix, std::size_t position) {
  if (e.in_fabric) return address_text(prefix.first + 1 + static_cast<std::uint32_t>(position));
  return address_text(prefix.first + (static_cast<std::uint32_t>(position / kHostsPerByte) << 8) +
                      static_cast<std::uint32_t>(position % kHostsPerByte + 1));
}

/// Returns the places of a group's hosts in the fabric; nothing, with a fault, if there are too
/// few.
std::optional<std::vector<std::size_t>> places_of(const Checks& root, const ExperimentFile& e,
                                                  const CaseParameters& p, std::size_t g,
                                                  std::uint64_t seed, HostPlaces& places) {
  const auto& group = e.hosts[g];
  const std::uint32_t count = hosts_in(e, group, p);
  const bool fixed = !group.at_switch.empty();
  const auto s = fixed ? index_of(e.switches, group.at_switch) : 0;
  const std::size_t room = fixed ? places.free_at(s) : places.free();
  if (count > room) {
    const std::string problem = std::to_string(count) + " hosts: must be at most " +
                                std::to_string(room) + ", the places that are left " +
                                (fixed ? "at this switch" : "in the fabric");
    if (group.of_job) fault_of_job(root, e.jobs[*group.of_job], group.count.parameter, problem);
    else root.below("hosts", g).fault("count", problem);
    return std::nullopt;
  }
  if (fixed) return places.take_at(s, count);
  return places.take(group.placement.value_or(p.host_placement), count, seed,
                     static_cast<std::uint32_t>(g));
}

/// The hosts that are placed so far.
struct Placed {
  explicit Placed(const ExperimentFile& e) : places(e.slots), at_switch(e.switches.size()) {}

  HostPlaces places;                   ///< that are free, in a fabric
  std::vector<std::size_t> at_switch;  ///< [switches] number of hosts
};

/// Returns where each host of a group is plugged in; nothing, with a fault, if places are too few.
std::optional<std::vector<FabricSlot>> slots_of(const Checks& root, const ExperimentFile& e,
                                                const CaseParameters& p, std::size_t g,
                                                std::uint64_t seed, HostPlaces& places) {
  const auto& group = e.hosts[g];
  if (!e.in_fabric)
    return std::vector<FabricSlot>(
        hosts_in(e, group, p), {index_of(e.switches, group.at_switch), group.rate, group.delay});
  const auto taken = places_of(root, e, p, g, seed, places);
  if (!taken) return std::nullopt;
  std::vector<FabricSlot> slots;
  for (const std::size_t slot : *taken) slots.push_back(e.slots[slot]);
  return slots;
}

bool place_group(const Checks& root, const ExperimentFile& e, const CaseParameters& p,
                 std::size_t g, std::uint64_t seed, Placed& placed, Topology& t) {
  const auto& group = e.hosts[g];
  const bool single = group.count.parameter.empty() && group.count.fixed == 1;
  const auto slots = slots_of(root, e, p, g, seed, placed.places);
  if (!slots) return false;
  for (std::uint32_t i = 0; i < slots->size(); ++i) {
    const FabricSlot& slot = (*slots)[i];
    const std::size_t s = slot.at_switch;
    const auto entity = static_cast<std::uint32_t>(g) * kEntitiesPerGroup + i;
    t.hosts.push_back({single ? group.name : group.name + '_' + std::to_string(i),
                       host_address(e, t.prefixes[s], placed.at_switch[s]++), g, s,
                       spread_delay(slot.delay, group.delay_spread, seed, entity),
                       host_rate(e, group.name, p, slot.rate, i), slot.loss});
  }
  return true;
}

/// Places the hosts. Groups with a fixed number of hosts come first: the generator keys a
/// host's random numbers by its position, and those of the background must not depend on
/// the number of workers.
bool place_hosts(const Checks& root, const ExperimentFile& e, const CaseParameters& p,
                 std::uint64_t seed, Topology& t) {
  Placed placed(e);
  for (const bool fixed : {true, false})
    for (std::size_t g = 0; g < e.hosts.size(); ++g)
      if (e.hosts[g].count.parameter.empty() == fixed &&
          !place_group(root, e, p, g, seed, placed, t))
        return false;
  return true;
}

/// Returns the delay of the trunks between two hosts; nothing, with a fault, if there is no path.
std::optional<Duration> trunk_delay(const Checks& root, const ExperimentFile& e, const Topology& t,
                                    std::size_t from, std::size_t to) {
  Duration delay{};
  while (from != to) {
    if (t.next[from][to].empty()) {
      root.fault("link", "no [[link]] leads from \"" + e.switches[from].name + "\" to \"" +
                             e.switches[to].name + "\"");
      return std::nullopt;
    }
    const auto next = t.next[from][to].front();
    delay += trunk_between(e, e.switches[from].name, e.switches[next].name).delay;
    from = next;
  }
  return delay;
}

bool check_rtt(const Checks& root, const ExperimentFile& e, Topology& t) {
  if (e.in_fabric || !e.has_job()) {  // the longest one of the fabric, or what the file says
    t.rtt = e.network.rtt;
    return true;
  }
  const auto& workers = e.hosts[index_of(e.hosts, e.job.worker_group())];
  const auto& servers = e.hosts[index_of(e.hosts, e.job.server_group())];
  const auto trunks = trunk_delay(root, e, t, index_of(e.switches, workers.at_switch),
                                  index_of(e.switches, servers.at_switch));
  if (!trunks) return false;
  t.rtt = 2 * (workers.delay + *trunks + servers.delay);
  const auto difference = std::max(t.rtt, e.network.rtt) - std::min(t.rtt, e.network.rtt);
  return root.below("network").require(
      difference <= kRttTolerance, "rtt", format_duration(e.network.rtt),
      "the delays from \"" + workers.name + "\" to \"" + servers.name + "\" and back add up to " +
          format_duration(t.rtt));
}

using NamedRates = std::vector<std::pair<std::string, BitRate>>;

/// Returns the ports of all switches, with their rates.
NamedRates ports_of(const ExperimentFile& e, const Topology& t) {
  NamedRates ports;
  for (const auto& trunk : e.trunks) {
    ports.emplace_back(trunk.port_of_a(), trunk.rate);
    ports.emplace_back(trunk.port_of_b(), trunk.rate);
  }
  for (const auto& host : t.hosts)
    ports.emplace_back(e.switches[host.at_switch].name + '.' + port_towards(host.name), host.rate);
  return ports;
}

/// Returns the rate of a port; nothing, with a fault, if there is none of that name.
/// @param beside  what may be given in its place
std::optional<BitRate> rate_of_port(const Checks& at, std::string_view key, const NamedRates& ports,
                                    const std::string& wanted, const char* beside = "") {
  const auto port = std::ranges::find(ports, wanted, &NamedRates::value_type::first);
  if (port != ports.end()) return port->second;
  std::vector<std::string_view> names(ports.size());
  std::ranges::transform(ports, names.begin(),
                         [](const auto& p) { return std::string_view(p.first); });
  at.fault(key, Checks::quoted(wanted),
           "must be \"SWITCH.to_NEIGHBOUR\" or \"SWITCH.to_HOST\"" + std::string(beside) +
               suggestion(wanted, names));
  return std::nullopt;
}

/// Checks the measured ports, and finds the least of their rates.
bool check_measured(const Checks& root, const ExperimentFile& e, const NamedRates& ports,
                    Topology& t) {
  t.measured_rate = {std::numeric_limits<std::uint64_t>::max()};
  const auto count = [&t](BitRate rate) {
    t.measured_rate = {std::min(t.measured_rate.bits_per_second, rate.bits_per_second)};
  };
  if ((e.network.measures_all() && e.in_fabric) || (e.network.measured.empty() && !e.has_job())) {
    for (const auto& [name, rate] : ports) count(rate);
    return true;
  }
  bool known = root.below("network").require(!e.network.measured.empty(), "measured", "[]",
                                             "must name a port");
  for (const std::string& wanted : measured_ports(e, t)) {
    const auto rate = rate_of_port(root.below("network"), "measured", ports, wanted,
                                   e.in_fabric ? ", or \"worst\" alone" : "");
    if (rate) count(*rate);
    known &= rate.has_value();
  }
  return known;
}

/// Checks the observed ports. Each keeps records, of which the worst of several measured ports has
/// the longest waits: it must be none that is not measured.
bool check_observed(const Checks& root, const ExperimentFile& e, const NamedRates& ports) {
  const auto at = root.below("observe");
  bool known = true;
  for (const std::string& wanted : e.observed.queues) {
    known &= rate_of_port(at, "queues", ports, wanted).has_value();
    if (e.network.measured.size() > 1)
      known &= at.require(std::ranges::count(e.network.measured, wanted) != 0, "queues",
                          Checks::quoted(wanted),
                          "must be one of network.measured, where that names several");
  }
  for (const std::string& wanted : e.observed.captures)
    known &= rate_of_port(at, "captures", ports, wanted).has_value();
  return known;
}

bool check_connected(const Checks& root, const ExperimentFile& e, const Topology& t) {
  const auto apart = switches_apart(e, t);
  if (!apart) return true;
  root.fault(!e.in_fabric ? "link" : "fabric",
             std::string(!e.in_fabric ? "no [[link]]" : "no link") + " leads from \"" +
                 apart->first + "\" to \"" + apart->second + "\"");
  return false;
}

}  // namespace

std::vector<std::string> measured_ports(const ExperimentFile& e, const Topology& t) {
  std::vector<std::string> ports = e.network.measured;
  for (std::string& port : ports)
    for (const PlacedHost& host : t.hosts)
      if (port == port_towards(host.name)) {
        port.insert(0, e.switches[host.at_switch].name + '.');
        break;
      }
  return ports;
}

std::string prefix_text(const HostPrefix& prefix) {
  return address_text(prefix.first) + '/' + std::to_string(prefix.length);
}

// By breadth-first search from every switch that can have hosts.
std::vector<std::vector<std::vector<std::size_t>>> find_routes(const ExperimentFile& e,
                                                               const Topology& t) {
  const std::size_t n = e.switches.size();
  std::map<std::string_view, std::size_t> index;
  for (std::size_t s = 0; s < n; ++s) index[e.switches[s].name] = s;
  std::vector<std::vector<std::size_t>> neighbours(n);
  for (const auto& trunk : e.trunks) {
    const auto a = index[trunk.a], b = index[trunk.b];
    if (std::ranges::find(neighbours[a], b) != neighbours[a].end()) continue;  // a parallel link
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::vector<std::vector<std::vector<std::size_t>>> next(n,
                                                          std::vector<std::vector<std::size_t>>(n));
  for (std::size_t d = 0; d < n; ++d) {
    if (t.prefixes[d].length == 0) continue;
    std::vector<std::size_t> hops(n, kNowhere), reached{d};
    hops[d] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const auto nearer = reached[i];
      for (const auto s : neighbours[nearer]) {
        if (hops[s] == kNowhere) {
          hops[s] = hops[nearer] + 1;
          reached.push_back(s);
        }
        if (hops[s] == hops[nearer] + 1) next[s][d].push_back(nearer);
      }
    }
  }
  return next;
}

std::optional<std::pair<std::string, std::string>> switches_apart(const ExperimentFile& e,
                                                                  const Topology& t) {
  const auto first = std::ranges::find_if(t.prefixes, [](const auto& p) { return p.length != 0; });
  const auto to = static_cast<std::size_t>(first - t.prefixes.begin());
  for (std::size_t s = 0; s < e.switches.size(); ++s)
    if (s != to && t.next[s][to].empty()) return std::pair(e.switches[s].name, e.switches[to].name);
  return std::nullopt;
}

std::uint32_t hosts_in(const ExperimentFile& e, const HostGroupEntry& group,
                       const CaseParameters& p) {
  const std::string& count = group.count.parameter;
  if (group.of_job) {
    const CaseParameters own = parameters_of(e.jobs[*group.of_job], p, e.network.rtt);
    if (count == "workers") return own.workers;
    return has_servers(own) ? own.servers : 0;
  }
  if (count == kWorkersAndServer) return p.workers + 1;
  if (count == "workers") return p.workers * p.jobs;
  if (count == "servers") return p.servers * p.jobs;
  return group.count.fixed;
}

std::optional<Topology> make_topology(const ExperimentFile& e, const CaseParameters& p,
                                      std::uint64_t seed, ConfigIssues& issues) {
  const Checks root(issues);
  if (!e.in_fabric && !root.in_range("switch", e.switches.size(), 1, kMaxSwitches, "switches"))
    return std::nullopt;
  Topology t;
  auto prefixes = prefixes_of(root, e);
  if (!prefixes) return std::nullopt;
  t.prefixes = std::move(*prefixes);
  t.next = find_routes(e, t);
  if (!place_hosts(root, e, p, seed, t)) return std::nullopt;
  if (!check_connected(root, e, t)) return std::nullopt;
  const NamedRates ports = ports_of(e, t);
  const bool measured = check_measured(root, e, ports, t);
  const bool observed = check_observed(root, e, ports);
  const bool rtt = check_rtt(root, e, t);
  if (!measured || !observed || !rtt) return std::nullopt;
  return t;
}

}  // namespace outrider::lab
