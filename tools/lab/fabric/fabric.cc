#include "tools/lab/fabric/fabric.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "common/config/suggestion.h"
#include "tools/lab/fabric/topology_file.h"

namespace outrider::lab {
namespace {

std::string numbered(const char* tier, std::size_t i) {
  return std::string(tier) + '_' + std::to_string(i);
}

void add_tier(Fabric& f, const char* tier, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) f.switches.push_back({.name = numbered(tier, i)});
}

/// @pre the leaves are the first switches
void add_slots(Fabric& f, const FabricConfig& c, std::size_t leaves, std::uint32_t each) {
  for (std::size_t leaf = 0; leaf < leaves; ++leaf)
    for (std::uint32_t i = 0; i < each; ++i) f.slots.push_back({leaf, *c.host_rate, *c.host_delay});
}

/// Returns the rate of one of a leaf's `uplinks`.
BitRate uplink_rate(const FabricConfig& c, std::uint32_t hosts, std::size_t uplinks) {
  if (c.uplink_rate) return *c.uplink_rate;
  const double sent = static_cast<double>(c.host_rate->bits_per_second) * hosts;
  return {static_cast<std::uint64_t>(sent / static_cast<double>(uplinks) / *c.oversubscription)};
}

Fabric leaf_spine(const FabricConfig& c) {
  Fabric f;
  add_tier(f, "leaf", *c.leaves);
  add_tier(f, "spine", *c.spines);
  const BitRate rate = uplink_rate(c, *c.hosts_per_leaf, *c.spines);
  for (std::size_t leaf = 0; leaf < *c.leaves; ++leaf)
    for (std::size_t spine = 0; spine < *c.spines; ++spine)
      f.trunks.push_back({numbered("leaf", leaf), numbered("spine", spine), rate, *c.uplink_delay});
  add_slots(f, c, *c.leaves, *c.hosts_per_leaf);
  return f;
}

Fabric fat_tree(const FabricConfig& c) {
  Fabric f;
  const std::size_t k = *c.k, half = k / 2;
  const std::uint32_t hosts = c.hosts_per_leaf.value_or(static_cast<std::uint32_t>(half));
  add_tier(f, "leaf", k * half);
  add_tier(f, "aggregation", k * half);
  add_tier(f, "core", half * half);
  const BitRate up = uplink_rate(c, hosts, half);
  const BitRate core = c.core_rate.value_or(up);
  const Duration core_delay = c.core_delay.value_or(*c.uplink_delay);
  for (std::size_t leaf = 0; leaf < k * half; ++leaf)
    for (std::size_t i = 0; i < half; ++i)
      f.trunks.push_back({numbered("leaf", leaf), numbered("aggregation", leaf / half * half + i),
                          up, *c.uplink_delay});
  for (std::size_t a = 0; a < k * half; ++a)
    for (std::size_t i = 0; i < half; ++i)
      f.trunks.push_back(
          {numbered("aggregation", a), numbered("core", a % half * half + i), core, core_delay});
  add_slots(f, c, k * half, hosts);
  return f;
}

void report_unknown(const Checks& at, const char* key, const Fabric& f, const std::string& port) {
  std::vector<std::string> names;
  for (const auto& t : f.trunks) {
    names.push_back(t.port_of_a());
    names.push_back(t.port_of_b());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  at.fault(
      key, Checks::quoted(port),
      "is no link of the fabric; links are named \"leaf_0.to_spine_1\"" + suggestion(port, known));
}

/// Returns the delay from a switch to every other, see longest_rtt(); nothing where no path leads.
/// @param ends of each switch, its neighbours with the delays to them
std::vector<std::optional<Duration>> delays_from(
    std::size_t from, const std::vector<std::vector<std::pair<std::size_t, Duration>>>& ends) {
  std::vector<std::optional<Duration>> delays(ends.size());
  std::vector<std::size_t> hops(ends.size()), reached{from};
  delays[from] = Duration{};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::size_t at = reached[i];
    for (const auto& [next, delay] : ends[at]) {
      const Duration there = *delays[at] + delay;
      if (!delays[next]) {
        hops[next] = hops[at] + 1;
        delays[next] = there;
        reached.push_back(next);
      } else if (hops[next] == hops[at] + 1) {
        delays[next] = std::min(*delays[next], there);
      }
    }
  }
  return delays;
}

}  // namespace

void impair(const Checks& at, const FabricConfig& c, Fabric& f) {
  for (const auto& port : c.gray_links)
    if (const auto i = link_with_port(f.trunks, port); i == f.trunks.size())
      report_unknown(at, "gray_links", f, port);
    else if (f.trunks[i].loss > 0)
      at.fault("gray_links", Checks::quoted(port), "has an error rate in the file already");
    else f.trunks[i].gray = true;
  for (const auto& port : c.failed_links)
    if (const auto i = link_with_port(f.trunks, port); i < f.trunks.size())
      f.trunks.erase(f.trunks.begin() + static_cast<std::ptrdiff_t>(i));
    else report_unknown(at, "failed_links", f, port);
  for (std::size_t i = 0; i < c.failures.size(); ++i)
    if (link_with_port(f.trunks, c.failures[i].link) == f.trunks.size())
      report_unknown(at.below("failure", i), "link", f, c.failures[i].link);
}

std::size_t link_with_port(const std::vector<TrunkEntry>& links, const std::string& port) {
  const auto link = std::ranges::find_if(
      links, [&](const TrunkEntry& t) { return t.port_of_a() == port || t.port_of_b() == port; });
  return static_cast<std::size_t>(link - links.begin());
}

Duration longest_rtt(const Fabric& fabric) {
  using End = std::pair<std::size_t, Duration>;  // a neighbour, and the delay to it
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < fabric.switches.size(); ++i) index[fabric.switches[i].name] = i;
  std::vector<std::vector<End>> ends(index.size());
  for (const auto& t : fabric.trunks) {
    ends[index[t.a]].emplace_back(index[t.b], t.delay);
    ends[index[t.b]].emplace_back(index[t.a], t.delay);
  }
  // The two longest cables of each switch: a rack may hold both ends of the longest path.
  std::vector<std::vector<Duration>> cables(index.size());
  for (const auto& slot : fabric.slots) cables[slot.at_switch].push_back(slot.delay);
  for (auto& c : cables) std::ranges::sort(c, std::greater{});
  Duration longest{};
  for (std::size_t from = 0; from < ends.size(); ++from) {
    if (cables[from].empty()) continue;
    if (cables[from].size() > 1) longest = std::max(longest, cables[from][0] + cables[from][1]);
    const auto delays = delays_from(from, ends);
    for (std::size_t to = 0; to < ends.size(); ++to)
      if (to != from && delays[to] && !cables[to].empty())
        longest = std::max(longest, cables[from][0] + *delays[to] + cables[to][0]);
  }
  return 2 * longest;
}

std::optional<Fabric> build_fabric(const FabricConfig& config,
                                   const std::filesystem::path& directory, ConfigIssues& issues) {
  ConfigIssues found;
  const Checks at(found, "fabric");
  check(at, config);
  std::optional<Fabric> fabric;
  if (found.empty() && config.kind == FabricKind::kLeafSpine) fabric = leaf_spine(config);
  if (found.empty() && config.kind == FabricKind::kFatTree) fabric = fat_tree(config);
  if (found.empty() && config.kind == FabricKind::kFile) {
    ConfigIssues of_file;
    fabric = load_topology((directory / config.file).lexically_normal().string(), of_file);
    at.faults_of_file("file", config.file, of_file);
  }
  if (fabric) {
    at.in_range("kind", fabric->switches.size(), 1, kMaxFabricSwitches, "switches");
    at.in_range("kind", fabric->slots.size(), 1, kMaxFabricHosts, "places for hosts");
    impair(at, config, *fabric);
  }
  if (!found.empty()) fabric.reset();
  issues.add(found);
  return fabric;
}

}  // namespace outrider::lab
