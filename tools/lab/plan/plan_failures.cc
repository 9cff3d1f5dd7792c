#include "tools/lab/plan/plan_failures.h"

#include <algorithm>
#include <set>
#include <string>

#include "common/config/checks.h"
#include "tools/lab/plan/plan_switches.h"

namespace outrider::lab {
namespace {

bool is_down(const LinkFailure& f, Duration at) {
  return f.at <= at && (!f.until || at < *f.until);
}

bool is_avoided(const LinkFailure& f, Duration at) {
  return f.reroute_after && is_down(f, at - *f.reroute_after);
}

/// Returns the instants at which something changes.
std::set<Duration> instants_of(const std::vector<LinkFailure>& failures) {
  std::set<Duration> instants;
  for (const LinkFailure& f : failures)
    for (const std::optional<Duration>& end : {std::optional(f.at), f.until}) {
      if (!end) continue;
      instants.insert(*end);
      if (f.reroute_after) instants.insert(*end + *f.reroute_after);
    }
  return instants;
}

/// @pre both exist
sw::SwitchPortConfig& port_at(sw::SwitchProcessConfig& config, const std::string& name,
                              const std::string& port) {
  auto& ports = std::ranges::find(config.switches, name, &sw::SwitchConfig::name)->ports;
  return *std::ranges::find(ports, port, &sw::SwitchPortConfig::name);
}

void take_down(const TrunkEntry& link, sw::SwitchProcessConfig& config) {
  port_at(config, link.a, port_towards(link.b, link.parallel)).loss = 1;
  port_at(config, link.b, port_towards(link.a, link.parallel)).loss = 1;
}

/// Returns the experiment without the links that routes avoid at the instant.
ExperimentFile avoiding(ExperimentFile e, Duration at) {
  std::erase_if(e.trunks, [&, trunks = e.trunks](const TrunkEntry& t) {
    return std::ranges::any_of(e.fabric.failures, [&](const LinkFailure& f) {
      const TrunkEntry& failed = trunks[link_with_port(trunks, f.link)];
      return is_avoided(f, at) && failed.port_of_a() == t.port_of_a();
    });
  });
  return e;
}

}  // namespace

std::vector<NetworkChange> plan_failures(const ExperimentFile& e, const CaseParameters& p,
                                         const Topology& topology,
                                         const sw::SwitchProcessConfig& begin,
                                         ConfigIssues& issues) {
  const Checks at(issues, "fabric");
  const std::vector<LinkFailure>& failures = e.fabric.failures;
  std::vector<NetworkChange> changes;
  for (const Duration instant : instants_of(failures)) {
    changes.push_back({Time{instant}, begin});
    NetworkChange& change = changes.back();
    for (const LinkFailure& f : failures)
      if (is_down(f, instant))
        take_down(e.trunks[link_with_port(e.trunks, f.link)], change.switches);
    const ExperimentFile left = avoiding(e, instant);
    Topology routed = topology;
    routed.next = find_routes(left, topology);
    if (const auto apart = switches_apart(left, routed)) {
      at.fault("failure", "at " + format_duration(instant) + " no path is left from \"" +
                              apart->first + "\" to \"" + apart->second + "\"");
      return {};
    }
    set_routes(left, p, routed, change.switches);
  }
  return changes;
}

}  // namespace outrider::lab
