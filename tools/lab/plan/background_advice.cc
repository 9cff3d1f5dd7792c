#include "tools/lab/plan/background_advice.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tools/lab/fabric/network_entries.h"
#include "tools/lab/plan/plan_rows.h"
#include "tools/lab/plan/topology.h"

namespace outrider::lab {
namespace {

/// Returns whether anything may flow both ways, whatever `from` and `to` say.
bool flows_either_way(const CaseParameters& p) {
  return !p.background_list.empty() || !p.background_capture.empty() ||
         find(p.settings, "requests.connections") != nullptr;
}

/// Returns whether there is background at the point.
bool sends(const CaseParameters& p) {
  if (long_flows_per_pair(p) > 0 || p.background_load.value_or(0) > 0 ||
      !p.background_list.empty() || !p.background_capture.empty())
    return true;
  const ConfigValue* connections = find(p.settings, "requests.connections");
  return connections != nullptr && *connections != ConfigValue(std::int64_t{0});
}

using Ports = std::set<std::string>;  ///< "switch.port"

bool share_one(const Ports& a, const Ports& b) {
  return std::ranges::any_of(a, [&b](const std::string& port) { return b.contains(port); });
}

/// The ports that packets between two groups of hosts pass, on any of several equal paths.
class Ways {
 public:
  Ways(const ExperimentFile& e, const Topology& t) : e_(e), t_(t) {}

  void add(const std::string& from, const std::string& to, Ports& ports) const {
    for (const PlacedHost& sink : t_.hosts) {
      if (e_.hosts[sink.group].name != to) continue;
      ports.insert(port(sink.at_switch, sink.name));
      for (const PlacedHost& source : t_.hosts)
        if (e_.hosts[source.group].name == from) add(source.at_switch, sink.at_switch, ports);
    }
  }

 private:
  [[nodiscard]] std::string port(std::size_t at, const std::string& towards) const {
    return e_.switches[at].name + '.' + port_towards(towards);
  }
  void add(std::size_t at, std::size_t to, Ports& ports) const {
    for (const std::size_t next : t_.next[at][to])
      if (ports.insert(port(at, e_.switches[next].name)).second) add(next, to, ports);
  }

  const ExperimentFile& e_;
  const Topology& t_;
};

/// Warns where background meets no burst on its way to the servers, and where the measured queue
/// shows no burst. A fabric has other places for hosts with every seed.
void add_of_ways(const ExperimentFile& e, bool either_way, ConfigIssues& found) {
  if (e.in_fabric) return;
  ConfigIssues ignored;  // build_case() reports them
  const auto topology = make_topology(e, e.parameters, 1, ignored);
  if (!topology) return;
  const Ways ways(e, *topology);
  Ports pushes, pulls, background;
  for (std::size_t i = 0; i + 1 < e.job.ring.size(); ++i)
    for (std::size_t j = i + 1; j < e.job.ring.size(); ++j) {
      ways.add(e.job.ring[i], e.job.ring[j], pushes);
      ways.add(e.job.ring[j], e.job.ring[i], pushes);
    }
  ways.add(e.job.worker_group(), e.job.server_group(), pushes);
  ways.add(e.job.server_group(), e.job.worker_group(), pulls);
  const auto& [from, to] = std::pair(e.background.from, e.background.to);
  ways.add(from, to, background);
  if (either_way || e.background.both_ways) ways.add(to, from, background);
  if (!from.empty() && !share_one(background, pushes))
    found.push_back({"background", "its data go from \"" + from + "\" to \"" + to +
                                       "\" and share no queue with bursts on their way to \"" +
                                       e.job.server_group() +
                                       "\": exchange from and to, or set both_ways"});
  const Ports measured(e.network.measured.begin(), e.network.measured.end());
  if (share_one(measured, pushes) ||
      (share_one(measured, pulls) && share_one(measured, background)))
    return;
  found.push_back({"network.measured", "\"" + *measured.begin() +
                                           "\": bursts do not cross it on their way to \"" +
                                           e.job.server_group() +
                                           "\", so that its figures are not those of bursts; "
                                           "name the queue that they share with background"});
}

}  // namespace

ConfigIssues background_advice(const ExperimentFile& e) {
  ConfigIssues found;
  bool any = false, either_way = false;
  for (const PlannedRow& row : rows_of(e)) {
    any = any || sends(row.parameters);
    either_way = either_way || flows_either_way(row.parameters);
  }
  if (!e.background.from.empty() && !any) {
    found.push_back({"background",
                     "sends nothing: no arm has long flows (background_flows_per_pair), a load, "
                     "requests, a capture, or a list, so that regulation has nothing "
                     "to make room from; set one of them, or remove [background]"});
    return found;
  }
  add_of_ways(e, either_way, found);
  return found;
}

}  // namespace outrider::lab
