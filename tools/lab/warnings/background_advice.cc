#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/fabric/network_entries.h"
#include "tools/lab/plan/topology.h"
#include "tools/lab/warnings/advice.h"
#include "trafficgen/import/flow_list.h"

namespace outrider::lab {
namespace {

using Direction = std::pair<std::string, std::string>;  ///< groups of hosts: from, to
using Directions = std::set<Direction>;
/// The directions that background has at some points, each with the first row that has them.
using Sending = std::map<Directions, const PlannedRow*>;

/// The directions of lists, each of which is read once however many points have it.
class Lists {
 public:
  explicit Lists(const ExperimentFile& e) : e_(e) {}

  /// Returns the directions of the flows of a group's list at a point. build_case() reports a list
  /// that cannot be read; its flows may have any direction.
  const Directions& of(const BackgroundGroup& group, const CaseParameters& p) {
    const std::array<std::string, 2> groups{group.from, group.to};
    const auto count = [&](const std::string& name) -> std::size_t {
      const auto hosts = std::ranges::find(e_.hosts, name, &HostGroupEntry::name);
      return hosts == e_.hosts.end() ? 0 : hosts_in(e_, *hosts, p);
    };
    // The hosts of a list are those that send background, then those that receive it, of the
    // shorthand as many.
    const std::size_t senders = count(groups[0]), all = count(groups[1]);
    const std::size_t receivers = group.is_shorthand() ? std::min(senders, all) : all;
    const std::size_t others = groups[0] == groups[1] ? 0 : receivers;
    const std::string path = path_of_file(kFlowListFile, group.list, e_.directory);
    const auto [known, added] = known_.try_emplace({path, groups[0], groups[1], senders, others});
    if (!added) return known->second;
    const auto list = tg::load_flow_list(path, senders + others);
    std::array<std::array<bool, 2>, 2> seen{{{false, !list}, {!list, false}}};
    if (list)
      for (const tg::ListedFlow& flow : *list.config)
        seen[flow.from < senders ? 0 : 1][flow.to < senders ? 0 : 1] = true;
    for (std::size_t from = 0; from < 2; ++from)
      for (std::size_t to = 0; to < 2; ++to)
        if (seen[from][to]) known->second.insert({groups[from], groups[to]});
    return known->second;
  }

 private:
  const ExperimentFile& e_;
  std::map<std::tuple<std::string, std::string, std::string, std::size_t, std::size_t>, Directions>
      known_;
};

/// Returns where data of background flow at the point; nothing if there are none.
Directions directions_of(const ExperimentFile& e, const CaseParameters& p, Lists& lists) {
  Directions all;
  for (const BackgroundGroup& group : background_of(e, p)) {
    if (group.kind() == BackgroundKind::kList) {
      const Directions& of_list = lists.of(group, p);
      all.insert(of_list.begin(), of_list.end());
      continue;
    }
    all.insert({group.from, group.to});
    if (group.both_ways || group.kind() == BackgroundKind::kRequests)
      all.insert({group.to, group.from});
  }
  return all;
}

/// Says where data of background flow that meets no burst, and what to do.
std::string astray_text(const ExperimentFile& e, const PlannedRow& row, const Directions& where,
                        bool in_all) {
  std::string text = in_all ? "" : "in arm \"" + row.label + "\" ";
  text += "its data go ";
  for (const auto& [from, to] : where) {
    if (text.back() == '"') text += " and ";
    text += "from \"" + from + "\" to \"" + to + '"';
  }
  text += " and share no queue with bursts on their way to \"" + e.job.server_group() + "\": ";
  if (where.size() > 1 || where.begin()->first == where.begin()->second)
    return text + "choose other hosts for from and to";
  return text + "exchange from and to" +
         (has_background_flows(row.parameters) || !row.parameters.groups.empty()
              ? ", or set both_ways"
              : "");
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
void add_of_ways(const ExperimentFile& e, const Sending& sending, ConfigIssues& found) {
  if (e.in_fabric || !e.has_job()) return;
  ConfigIssues ignored;  // build_case() reports them
  const auto topology = make_topology(e, e.parameters, 1, ignored);
  if (!topology) return;
  const Ways ways(e, *topology);
  Ports pushes, pulls;
  for (std::size_t i = 0; i + 1 < e.job.ring.size(); ++i)
    for (std::size_t j = i + 1; j < e.job.ring.size(); ++j) {
      ways.add(e.job.ring[i], e.job.ring[j], pushes);
      ways.add(e.job.ring[j], e.job.ring[i], pushes);
    }
  ways.add(e.job.worker_group(), e.job.server_group(), pushes);
  ways.add(e.job.server_group(), e.job.worker_group(), pulls);
  const auto names = measured_ports(e, *topology);
  const Ports measured(names.begin(), names.end());
  bool told = false, in_pulls = share_one(measured, pulls) && !sending.empty();
  for (const auto& [where, row] : sending) {
    Ports background;
    for (const auto& [from, to] : where) ways.add(from, to, background);
    in_pulls = in_pulls && share_one(measured, background);
    if (told || share_one(background, pushes)) continue;
    found.push_back({"background", astray_text(e, *row, where, sending.size() == 1)});
    told = true;
  }
  if (share_one(measured, pushes) || in_pulls) return;
  found.push_back({"network.measured", "\"" + *measured.begin() +
                                           "\": bursts do not cross it on their way to \"" +
                                           e.job.server_group() +
                                           "\", so that its figures are not those of bursts; "
                                           "name the queue that they share with background"});
}

}  // namespace

ConfigIssues background_advice(const ExperimentFile& e, std::span<const PlannedRow> rows) {
  ConfigIssues found;
  Lists lists(e);
  Sending sending;
  for (const PlannedRow& row : rows)
    if (Directions where = directions_of(e, row.parameters, lists); !where.empty())
      sending.try_emplace(std::move(where), &row);
  if (!e.background.from.empty() && sending.empty()) {
    found.push_back({"background",
                     "sends nothing: no arm has long flows (background.flows_per_pair), a load, "
                     "requests, a capture, or a list, so that regulation has nothing "
                     "to make room from; set one of them, or remove [background]"});
    return found;
  }
  add_of_ways(e, sending, found);
  return found;
}

}  // namespace outrider::lab
