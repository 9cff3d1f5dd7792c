#include "tools/lab/plan/topology.h"

#include <algorithm>
#include <limits>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "common/core/random.h"

namespace outrider::lab {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kHostsPerByte = 250;  ///< values used of an address's third and fourth byte
constexpr std::size_t kMaxSwitches = 200;
constexpr Duration kRttTolerance = std::chrono::nanoseconds(1);

template <class List>
std::size_t index_of(const List& list, const std::string& name) {
  const auto it = std::ranges::find_if(list, [&](const auto& e) { return e.name == name; });
  return static_cast<std::size_t>(it - list.begin());
}

/// Computes Topology::next by breadth-first search from every destination. Neighbours are
/// in the order of the file, so that every run chooses the same of several equal paths.
std::vector<std::vector<std::vector<std::size_t>>> find_routes(const ExperimentFile& e) {
  const std::size_t n = e.switches.size();
  std::vector<std::vector<std::size_t>> neighbours(n);
  for (const auto& t : e.trunks) {
    const auto a = index_of(e.switches, t.a), b = index_of(e.switches, t.b);
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::vector<std::vector<std::vector<std::size_t>>> next(n,
                                                          std::vector<std::vector<std::size_t>>(n));
  for (std::size_t d = 0; d < n; ++d) {
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

const TrunkEntry& trunk_between(const ExperimentFile& e, const std::string& a,
                                const std::string& b) {
  return *std::ranges::find_if(e.trunks, [&](const TrunkEntry& t) {
    return (t.a == a && t.b == b) || (t.a == b && t.b == a);
  });
}

Duration spread_delay(const HostGroupEntry& group, std::uint64_t seed, std::uint32_t host) {
  if (group.delay_spread == 0) return group.delay;
  RandomStream random(seed, host, RandomPurpose::kHostDelay);
  const double factor = 1 + group.delay_spread * (2 * random.uniform() - 1);
  return from_seconds(seconds(group.delay) * factor);
}

/// Returns the rate of a group's i-th host, see CaseParameters::worker_rate_spread.
BitRate host_rate(const ExperimentFile& e, const HostGroupEntry& group, const CaseParameters& p,
                  std::uint32_t i) {
  if (p.worker_rate_spread == 0 || group.name != e.job.worker_group()) return group.rate;
  const double slower =
      1 + p.worker_rate_spread * (p.workers - 1 - i % p.workers) / std::max(1.0, p.workers - 1.0);
  const double bits = static_cast<double>(group.rate.bits_per_second) / slower;
  return {static_cast<std::uint64_t>(bits)};
}

std::uint32_t count_of(const HostGroupEntry& group, const CaseParameters& p) {
  if (group.count.parameter == kWorkersAndServer) return p.workers + 1;
  if (group.count.parameter == "workers") return p.workers * p.jobs;
  if (group.count.parameter == "servers") return p.servers * p.jobs;
  return group.count.fixed;
}

/// Range of host numbers per group. Each group numbers its hosts in a range of its own, so
/// that an additional worker does not change the draws of other hosts.
constexpr std::uint32_t kEntitiesPerGroup = 1U << 16;

std::string host_address(std::size_t at_switch, std::size_t position) {
  return "10." + std::to_string(at_switch + 1) + '.' + std::to_string(position / kHostsPerByte) +
         '.' + std::to_string(position % kHostsPerByte + 1);
}

void place_group(const ExperimentFile& e, const CaseParameters& p, std::size_t g,
                 std::uint64_t seed, Topology& t) {
  const auto& group = e.hosts[g];
  const auto s = index_of(e.switches, group.at_switch);
  const auto here = [s](const PlacedHost& h) { return h.at_switch == s; };
  auto position = static_cast<std::size_t>(std::ranges::count_if(t.hosts, here));
  const bool single = group.count.parameter.empty() && group.count.fixed == 1;
  const std::uint32_t count = count_of(group, p);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto entity = static_cast<std::uint32_t>(g) * kEntitiesPerGroup + i;
    t.hosts.push_back({single ? group.name : group.name + '_' + std::to_string(i),
                       host_address(s, position++), g, s, spread_delay(group, seed, entity),
                       host_rate(e, group, p, i)});
  }
}

/// Places the hosts. Groups with a fixed number of hosts come first: the generator keys a
/// host's random numbers by its position, and those of the background must not depend on
/// the number of workers.
void place_hosts(const ExperimentFile& e, const CaseParameters& p, std::uint64_t seed,
                 Topology& t) {
  for (const bool fixed : {true, false})
    for (std::size_t g = 0; g < e.hosts.size(); ++g)
      if (e.hosts[g].count.parameter.empty() == fixed) place_group(e, p, g, seed, t);
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

bool check_measured(const Checks& root, const ExperimentFile& e, Topology& t) {
  std::vector<std::string> ports;
  for (const auto& trunk : e.trunks) {
    ports.push_back(trunk.a + '.' + port_towards(trunk.b));
    ports.push_back(trunk.b + '.' + port_towards(trunk.a));
  }
  for (const auto& host : t.hosts)
    ports.push_back(e.switches[host.at_switch].name + '.' + port_towards(host.name));
  const auto it = std::ranges::find(ports, e.network.measured);
  if (it == ports.end()) {
    const std::vector<std::string_view> known(ports.begin(), ports.end());
    root.below("network").fault("measured", Checks::quoted(e.network.measured),
                                "must be \"SWITCH.to_NEIGHBOUR\" or \"SWITCH.to_HOST\"" +
                                    suggestion(e.network.measured, known));
    return false;
  }
  const auto index = static_cast<std::size_t>(it - ports.begin());
  const auto trunk_ports = 2 * e.trunks.size();
  t.measured_rate =
      index < trunk_ports ? e.trunks[index / 2].rate : t.hosts[index - trunk_ports].rate;
  return true;
}

bool check_gray(const Checks& root, const ExperimentFile& e, const CaseParameters& p) {
  const bool any = std::ranges::any_of(e.trunks, &TrunkEntry::gray);
  if (any || p.gray_loss == 0) return true;
  root.fault("link", "one of them must have gray = true with gray_loss above 0");
  return false;
}

bool check_connected(const Checks& root, const ExperimentFile& e, const Topology& t) {
  for (std::size_t s = 0; s < e.switches.size(); ++s)
    if (!trunk_delay(root, e, t, s, 0)) return false;
  return true;
}

}  // namespace

std::string switch_prefix(std::size_t index) {
  return "10." + std::to_string(index + 1) + ".0.0/16";
}

std::string port_towards(const std::string& name) { return "to_" + name; }

std::optional<Topology> make_topology(const ExperimentFile& e, const CaseParameters& p,
                                      std::uint64_t seed, ConfigIssues& issues) {
  const Checks root(issues);
  if (!root.in_range("switch", e.switches.size(), 1, kMaxSwitches, "switches")) return std::nullopt;
  Topology t;
  t.next = find_routes(e);
  place_hosts(e, p, seed, t);
  if (!check_connected(root, e, t)) return std::nullopt;
  const bool measured = check_measured(root, e, t);
  const bool rtt = check_rtt(root, e, t);
  const bool gray = check_gray(root, e, p);
  if (!measured || !rtt || !gray) return std::nullopt;
  return t;
}

}  // namespace outrider::lab
