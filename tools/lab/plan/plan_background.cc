#include "tools/lab/plan/plan_background.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/fabric/network_entries.h"
#include "tools/lab/plan/plan_jobs.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::lab {
namespace {

using Names = std::vector<std::string>;

/// The hosts of a group's two ends.
struct Ends {
  Names from, to;
};

/// Returns them as the group names them. Where one group of hosts is both, each host's partner is
/// half of it further on. Of the shorthand, as many receive as send: of a job's hosts the first.
Ends hosts_of(const ExperimentFile& e, const Topology& t, const BackgroundGroup& g) {
  Ends ends{names_of(e, t, g.from), names_of(e, t, g.to)};
  if (g.from == g.to)
    std::rotate(ends.to.begin(), ends.to.begin() + static_cast<std::ptrdiff_t>(ends.to.size() / 2),
                ends.to.end());
  if (g.is_shorthand()) ends.to.resize(std::min(ends.to.size(), ends.from.size()));
  return ends;
}

/// Returns `count` pairs of them from the `first` on. Hosts of the smaller end are in several
/// pairs.
Ends pairs_of(const Ends& hosts, std::size_t first, std::size_t count) {
  Ends pairs;
  if (hosts.from.empty() || hosts.to.empty()) return hosts;  // the generator's rules report it
  const std::size_t all = std::max(hosts.from.size(), hosts.to.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t pair = (first + i) % all;
    pairs.from.push_back(hosts.from[pair % hosts.from.size()]);
    pairs.to.push_back(hosts.to[pair % hosts.to.size()]);
  }
  return pairs;
}

Ends all_pairs_of(const Ends& hosts) {
  return pairs_of(hosts, 0, std::max(hosts.from.size(), hosts.to.size()));
}

/// Returns the first port of a row that no other row has, as several may have the same receivers.
template <class Flows>
std::uint16_t own_port(const Flows& row, const std::vector<Flows>& others) {
  std::size_t taken = others.size();
  if constexpr (requires { row.server_ports; }) {
    taken = 0;
    for (const Flows& other : others) taken += other.server_ports;
  }
  return static_cast<std::uint16_t>(row.tcp_port + taken);
}

/// Adds what `forward` says; the same in the other direction too if background flows both ways.
template <class Flows>
void add_rows(const BackgroundGroup& g, Flows forward, std::vector<Flows>& all) {
  const auto add = [&](Flows row) {
    if (!g.is_shorthand()) row.tcp_port = own_port(row, all);
    all.push_back(std::move(row));
  };
  add(forward);
  if (!g.both_ways) return;
  std::swap(forward.from, forward.to);
  forward.name += kBackRow;
  add(std::move(forward));
}

/// Returns the rate of which a load is a share [bit/s]: that of the measured link, or in a fabric
/// that of the NICs that send.
double loaded_rate(const ExperimentFile& e, const Topology& t, const BackgroundGroup& g) {
  if (!e.in_fabric) return static_cast<double>(t.measured_rate.bits_per_second);
  double sum = 0;
  for (const auto& host : t.hosts)
    if (e.hosts[host.group].name == g.from) sum += static_cast<double>(host.rate.bits_per_second);
  return sum;
}

/// Returns the share of payload in what the group sends.
double payload_share(const ExperimentFile& e, const BackgroundGroup& g) {
  constexpr double kOfSegment = 1448.0 / (1514 + kL1OverheadBytes);  // a full one
  if (!g.over_roce()) return kOfSegment;
  const auto senders = std::ranges::find(e.hosts, g.from, &HostGroupEntry::name);
  const double payload = tg::path_mtu_of(senders->mtu_bytes);
  return payload / (payload + tg::kAroundPayloadBytes);
}

/// Returns the long flows of earlier groups between the same hosts, whose pairs are taken.
std::size_t flows_before(const std::vector<BackgroundGroup>& groups, const BackgroundGroup& g) {
  std::size_t flows = 0;
  for (const BackgroundGroup& other : groups) {
    if (&other == &g) break;
    if (other.from == g.from && other.to == g.to) flows += other.long_flows.value_or(0);
  }
  return flows;
}

void add_long_flows(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                    const std::vector<BackgroundGroup>& groups, const BackgroundGroup& g,
                    tg::GeneratorConfig& config) {
  Ends ends = hosts_of(e, t, g);
  if (g.long_flows) ends = pairs_of(ends, flows_before(groups, g), *g.long_flows);
  add_rows(g,
           tg::LongFlowsConfig{.name = g.name,
                               .from = std::move(ends.from),
                               .to = std::move(ends.to),
                               .flows_per_pair = g.long_flows ? 1 : g.flows_per_pair,
                               .transport = g.transport_name(),
                               .start_spread = p.programs().flows.start_spread},
           config.long_flows);
}

/// Splits flows by pairs of racks, each with its share of the rate. @pre check_racks()
void add_by_racks(const ExperimentFile& e, const Topology& t, const tg::FlowsConfig& all,
                  tg::GeneratorConfig& config) {
  const std::vector<std::size_t> racks = racks_of(e);
  double sum = 0;
  for (const auto& row : e.background.racks) sum += std::reduce(row.begin(), row.end());
  for (std::size_t i = 0; i < racks.size(); ++i)
    for (std::size_t j = 0; j < racks.size(); ++j) {
      const double share = e.background.racks[i][j] / sum;
      if (share == 0) continue;
      tg::FlowsConfig pair = all;
      pair.name += "_" + std::to_string(i) + "_" + std::to_string(j);
      pair.tcp_port =
          static_cast<std::uint16_t>(pair.tcp_port + i);  // a host receives of each rack
      pair.from = names_of(e, t, e.background.from, racks[i]);
      pair.to = names_of(e, t, e.background.to, racks[j]);
      pair.rate = BitRate{static_cast<std::uint64_t>(
          share * static_cast<double>(all.rate.value_or(BitRate{}).bits_per_second))};
      config.flows.push_back(std::move(pair));
    }
}

/// Adds the flows that start and end during the run and load a share of the measured link.
void add_load(const ExperimentFile& e, const Topology& t, const BackgroundGroup& g,
              tg::GeneratorConfig& config) {
  Ends ends = hosts_of(e, t, g);
  const double bits = g.load.value_or(0) * loaded_rate(e, t, g);
  tg::FlowsConfig flows{.name = g.name,
                        .from = std::move(ends.from),
                        .to = std::move(ends.to),
                        .distribution = path_of_file(kSizesFile, g.sizes, e.directory),
                        .hosts = {},
                        .rate = BitRate{static_cast<std::uint64_t>(bits * payload_share(e, g))},
                        .transport = g.transport_name(),
                        .queue_pairs = g.queue_pairs};
  if (g.is_shorthand() && !e.background.racks.empty()) add_by_racks(e, t, flows, config);
  else add_rows(g, std::move(flows), config.flows);
}

/// Adds the flows of a list. Its hosts are those that send background, then those that receive it
/// and do not send.
void add_list(const ExperimentFile& e, const Topology& t, const BackgroundGroup& g,
              tg::GeneratorConfig& config) {
  constexpr std::uint16_t kPort = 33000;  // other groups may have the same receivers
  const Ends ends = hosts_of(e, t, g);
  Names hosts = ends.from;
  for (const std::string& name : ends.to)
    if (std::ranges::find(hosts, name) == hosts.end()) hosts.push_back(name);
  add_rows(g,
           tg::FlowsConfig{.name = g.name,
                           .from = {},
                           .to = {},
                           .list = path_of_file(kFlowListFile, g.list, e.directory),
                           .hosts = std::move(hosts),
                           .transport = g.transport_name(),
                           .tcp_port = kPort,
                           .queue_pairs = g.queue_pairs},
           config.flows);
}

/// Adds the requests, whose clients are the hosts that send.
void add_requests(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                  const BackgroundGroup& g, tg::GeneratorConfig& config) {
  Ends ends = hosts_of(e, t, g);
  if (!g.is_shorthand()) ends = all_pairs_of(ends);
  tg::RequestFlowsConfig requests = settings_of(g, p, e.network.rtt).requests;
  requests.name = g.name;
  requests.from = std::move(ends.from);
  requests.to = std::move(ends.to);
  requests.transport = g.transport_name();
  add_rows(g, std::move(requests), config.requests);
}

/// Adds the capture, which the first pair of hosts plays until the run ends. A host that is not
/// there is reported by the generator's rules.
void add_capture(const ExperimentFile& e, const Topology& t, const BackgroundGroup& g,
                 tg::GeneratorConfig& config) {
  const auto first_of = [](const Names& names) {
    return names.empty() ? std::string() : names.front();
  };
  const Ends ends = hosts_of(e, t, g);
  tg::CaptureConfig capture{.name = g.name,
                            .from = first_of(ends.from),
                            .to = first_of(ends.to),
                            .file = path_of_file(kCaptureFile, g.capture, e.directory),
                            .rounds = 0};
  capture.udp_port = static_cast<std::uint16_t>(capture.udp_port + config.captures.size());
  config.captures.push_back(std::move(capture));
}

tg::TransportConfig background_transport_of(const ProgramSettings& settings) {
  tg::TransportConfig transport = settings.background;
  if (settings.flows.protocol == LabBackgroundProtocol::kBoth)  // each has a class
    transport.tcp.priority = settings.transport.tcp.priority;
  return transport;
}

// -- what crosses the measured queue

const PlacedHost& host_named(const Topology& t, const std::string& name) {
  return *std::ranges::find(t.hosts, name, &PlacedHost::name);
}

/// Returns whether packets between two hosts pass a measured port, on the first of equal paths.
bool is_measured(const ExperimentFile& e, const Topology& t, const PlacedHost& from,
                 const PlacedHost& to) {
  const auto has = [&e](std::size_t at, const std::string& towards) {
    const std::string port = e.switches[at].name + '.' + port_towards(towards);
    return std::ranges::find(e.network.measured, port) != e.network.measured.end();
  };
  std::size_t at = from.at_switch;
  while (at != to.at_switch) {
    const std::size_t next = t.next[at][to.at_switch].front();
    if (has(at, e.switches[next].name)) return true;
    at = next;
  }
  return has(at, to.name);
}

// -- faults

/// A list of the generator's file, and what its keys are called in a group.
struct RowList {
  std::string_view name;
  std::string_view was;
  std::string_view is;
};

constexpr std::array kRowLists{
    RowList{"long_flows", "", ""}, RowList{"flows", "distribution", "sizes"},
    RowList{"requests", "", "requests."}, RowList{"capture", "file", "capture"},
    RowList{"transport", "", "transport."}};

const BackgroundGroup* group_of_row(const CaseParameters& p, std::string_view list,
                                    std::string name) {
  const auto is_named = [&](const BackgroundGroup& g) {
    return name == (list == "transport" ? g.transport_name() : g.name);
  };
  if (name.ends_with(kBackRow)) name.resize(name.size() - std::string_view(kBackRow).size());
  const auto it = std::ranges::find_if(p.groups, is_named);
  return it == p.groups.end() ? nullptr : &*it;
}

std::string name_of_row(const tg::GeneratorConfig& c, std::string_view list, std::size_t index) {
  const auto name = [index](const auto& rows) {
    return index < rows.size() ? rows[index].name : std::string();
  };
  if (list == "long_flows") return name(c.long_flows);
  if (list == "flows") return name(c.flows);
  if (list == "requests") return name(c.requests);
  if (list == "capture") return name(c.captures);
  return name(c.transports);
}

/// Returns the key of a group for one of its rows: "from" and "to" are the group's own.
std::string key_in_group(const RowList& list, std::string_view key) {
  const bool of_ends =
      key.starts_with("from") || key.starts_with("to[") || key == "to" || key.starts_with("hosts");
  if (of_ends) return key.starts_with("to") ? "to" : "from";
  if (key == list.was) return std::string(list.is);
  return (list.was.empty() ? std::string(list.is) : std::string()) + std::string(key);
}

}  // namespace

void add_background_transports(const ExperimentFile& e, const CaseParameters& p,
                               tg::GeneratorConfig& config) {
  const ProgramSettings& settings = p.programs();
  if (p.groups.empty()) {
    config.transports.push_back(background_transport_of(settings));
    if (settings.flows.protocol != LabBackgroundProtocol::kTcp)
      config.transports.push_back(settings.background_roce);
    return;
  }
  for (const BackgroundGroup& g : p.groups) {
    if (g.kind() == BackgroundKind::kCapture) continue;  // it has none
    const ProgramSettings own = settings_of(g, p, e.network.rtt);
    const bool over_tcp = g.protocol == tg::TransportProtocol::kTcp;
    tg::TransportConfig transport = over_tcp ? own.background : own.background_roce;
    transport.name = g.transport_name();
    config.transports.push_back(std::move(transport));
  }
}

void add_background(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                    tg::GeneratorConfig& config) {
  const std::vector<BackgroundGroup> groups = background_of(e, p);
  for (const BackgroundGroup& g : groups) switch (g.kind()) {
      case BackgroundKind::kLongFlows:
        add_long_flows(e, p, t, groups, g, config);
        break;
      case BackgroundKind::kLoad:
        add_load(e, t, g, config);
        break;
      case BackgroundKind::kList:
        add_list(e, t, g, config);
        break;
      case BackgroundKind::kRequests:
        add_requests(e, p, t, g, config);
        break;
      case BackgroundKind::kCapture:
        add_capture(e, t, g, config);
        break;
    }
}

std::uint32_t background_flows_of(const ExperimentFile& e, const CaseParameters& p,
                                  const Topology& t, const tg::GeneratorConfig& traffic) {
  if (traffic.long_flows.empty()) return 0;
  if (p.groups.empty()) {
    const auto& flows = traffic.long_flows.front();
    return static_cast<std::uint32_t>(flows.from.size()) * flows.flows_per_pair;
  }
  std::uint32_t count = 0;
  for (const auto& row : traffic.long_flows)
    for (std::size_t i = 0; i < std::min(row.from.size(), row.to.size()); ++i)
      if (e.network.measures_all() ||
          is_measured(e, t, host_named(t, row.from[i]), host_named(t, row.to[i])))
        count += row.flows_per_pair;
  return count;
}

void name_by_groups(const CaseParameters& p, const tg::GeneratorConfig& traffic,
                    ConfigIssues& issues) {
  constexpr std::string_view kProgram = "trafficgen: ";
  if (p.groups.empty()) return;
  for (auto& issue : issues) {
    if (!issue.key.starts_with(kProgram)) continue;
    const std::string_view key = std::string_view(issue.key).substr(kProgram.size());
    for (const RowList& list : kRowLists) {
      if (!key.starts_with(std::string(list.name) + '[')) continue;
      std::size_t index = 0;
      const char* end = key.data() + key.size();
      const auto [rest, error] = std::from_chars(key.data() + list.name.size() + 1, end, index);
      if (error != std::errc{} || end - rest < 2) break;
      const BackgroundGroup* group =
          group_of_row(p, list.name, name_of_row(traffic, list.name, index));
      if (group == nullptr) break;
      const std::string own = key_in_group(list, {rest + 2, end});  // behind "]."
      issue.key = join_key(group->place, own);
      break;
    }
  }
}

}  // namespace outrider::lab
