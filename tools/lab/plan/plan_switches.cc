#include "tools/lab/plan/plan_switches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "common/net/roce.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/plan/plan_jobs.h"

namespace outrider::lab {
namespace {

/// Returns a port with the queue, marker and regulation that all ports have.
sw::SwitchPortConfig port_of(const ProgramSettings& settings) {
  sw::SwitchPortConfig port = settings.sw.ports.front();
  RegulationPolicy& policy = port.regulation;
  if (!acts_on_bursts(policy.mode)) policy.predict.from = PredictFrom::kOff;
  return port;
}

/// Returns how lossless the second of two queues is. A priority belongs to one queue, so it is if
/// background over RoCEv2 waits there and has a priority of its own.
sw::LosslessConfig lossless_of_background(std::span<const RoceBackground> background,
                                          const sw::SwitchPortConfig& port) {
  sw::LosslessConfig lossless = port.queue.lossless;
  if (!lossless.on()) return {};
  for (const RoceBackground& one : background) {
    const auto priority = one.transport.tcp.priority;
    if (one.queue == LabRoceQueue::kDdl || !priority || *priority == lossless.priority) continue;
    lossless.priority = *priority;
    return lossless;
  }
  return {};
}

SchedulerKind kind_of(LabScheduler scheduler) {
  if (scheduler == LabScheduler::kDwrr) return SchedulerKind::kDwrr;
  return scheduler == LabScheduler::kStrict ? SchedulerKind::kStrict : SchedulerKind::kStrictFloor;
}

/// Sets a port's queues and scheduler: DDL data has the first queue, background the second. Where
/// bursts are steered, the first queue has what STARTs announce, and all comes to the second.
void share_link(const QueueRoles& roles, std::span<const RoceBackground> background,
                sw::SwitchPortConfig& port) {
  if (roles.scheduler == LabScheduler::kFifo) return;
  port.scheduler = kind_of(roles.scheduler);
  if (roles.share_limit) {
    port.limit_packets = port.queue.limit_packets;
    port.limit_bytes = port.queue.limit_bytes;
  }
  const auto make = [&port](const QueueRole& role) {
    sw::PortQueueConfig queue = queue_of(role, {port.queue, port.marker, port.regulation});
    if (port.scheduler == SchedulerKind::kStrictFloor && role.floor > 0)
      queue.queue.floor_rate = BitRate{static_cast<std::uint64_t>(
          static_cast<double>(port.drain_rate.bits_per_second) * role.floor)};
    return queue;
  };
  sw::PortQueueConfig ddl = make(roles.ddl), other = make(roles.background);
  other.queue.lossless = lossless_of_background(background, port);
  if (steers(port.regulation.mode) || port.regulation.hears != Subscription::kQueue)
    ddl.regulation.mode = RegulationMode::kOff;
  port.queues = {std::move(ddl), std::move(other)};
}

/// Returns the transport of a job's bursts.
const tg::TransportConfig& transport_of(const tg::GeneratorConfig& traffic,
                                        const tg::JobConfig& job) {
  return *std::ranges::find(traffic.transports, job.transport, &tg::TransportConfig::name);
}

/// Classifies what jobs send over UDP, in both directions, as DDL data. Background over RoCEv2 has
/// the port of bursts over it: then DSCPs distinguish them. CNPs of both are DDL data: a
/// notification must not wait.
void serve_datagrams(const tg::GeneratorConfig& traffic, std::span<const RoceBackground> background,
                     sw::SwitchConfig& sw) {
  std::optional<sw::PortRange> bounded_loss;
  std::vector<std::uint32_t> dscps;                // of bursts over RoCEv2
  for (const tg::JobConfig& job : traffic.jobs) {  // whose ports ascend
    const tg::TransportConfig& transport = transport_of(traffic, job);
    if (transport.protocol == tg::TransportProtocol::kMlt)
      bounded_loss = sw::PortRange{bounded_loss ? bounded_loss->first : job.tcp_port, job.tcp_port};
    if (transport.protocol != tg::TransportProtocol::kRoce) continue;
    for (const std::uint32_t dscp : {transport.roce.dscp, transport.roce.cnp_dscp})
      if (std::ranges::find(dscps, dscp) == dscps.end()) dscps.push_back(dscp);
  }
  const auto add_rule = [&sw](std::optional<sw::PortRange> from, std::optional<sw::PortRange> to) {
    sw.rules.push_back({.protocol = kIpProtocolUdp,
                        .source_ports = from,
                        .destination_ports = to,
                        .traffic_class = sw::RuleClass::kDdl});
  };
  if (bounded_loss) add_rule({}, bounded_loss);
  if (bounded_loss) add_rule(bounded_loss, {});
  if (!background.empty()) sw.classes.dscp_ddl = dscps;
  else if (!dscps.empty()) add_rule({}, sw::PortRange{roce::kPort, roce::kPort});
  for (const RoceBackground& one : background) {
    if (one.queue != LabRoceQueue::kDdl) continue;
    for (const std::uint32_t dscp : {one.transport.roce.dscp, one.transport.roce.cnp_dscp})
      sw.classes.dscp[std::to_string(dscp)] =
          ConfigValue(static_cast<std::int64_t>(sw.classes.ddl_queue));
  }
}

/// Gives each class of layers a queue. The last one is also that of all other traffic.
void serve_layers(const tg::GeneratorConfig& traffic, sw::SwitchConfig& sw) {
  const auto has_classes = [&traffic](const tg::JobConfig& job) {
    const tg::TransportConfig& transport = transport_of(traffic, job);
    return transport.protocol == tg::TransportProtocol::kMlt && !transport.mlt.class_dscps.empty();
  };
  const auto job = std::ranges::find_if(traffic.jobs, has_classes);  // all others have its classes
  if (job == traffic.jobs.end()) return;
  const auto& classes = transport_of(traffic, *job).mlt.class_dscps;
  ConfigTable queues;
  for (std::size_t c = 0; c < classes.size(); ++c)
    queues[std::to_string(classes[c])] = ConfigValue(static_cast<std::int64_t>(c));
  sw.classes.dscp = queues;
  sw.classes.background_queue = static_cast<std::uint32_t>(classes.size() - 1);
  for (auto& each : sw.ports) {
    each.scheduler = SchedulerKind::kStrict;
    each.queues.assign(classes.size(), {each.queue, each.marker, each.regulation});
  }
}

/// Returns whether hosts of the group belong to jobs.
bool has_jobs(const ExperimentFile& e, const HostGroupEntry& group) {
  return e.jobs.empty() ? e.job.is_on(group.name) : group.of_job.has_value();
}

/// Lets the switch accept signals only from the job's own hosts, and signed ones only if the jobs
/// sign.
void accept_signals(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                    const tg::GeneratorConfig& traffic, sw::SignalConfig& signals) {
  const tg::SignalForm form = p.programs().job.announce.signal_form;
  signals.accept_tos = form == tg::SignalForm::kTos;
  signals.accept_udp = form == tg::SignalForm::kUdp;
  std::vector<std::string> hosts;
  for (const auto& host : t.hosts)
    if (has_jobs(e, e.hosts[host.group])) hosts.push_back(host.address + "/32");
  if (!p.programs().signs()) {
    signals.accept_from = std::move(hosts);
    return;
  }
  for (const tg::JobConfig& job : traffic.jobs)
    signals.signers.push_back({.name = "job" + std::to_string(signals.signers.size()),
                               .keys = {*job.announce.signal_key},
                               .accept_from = hosts});
}

/// Returns whether somebody else runs the switch.
bool is_outside(const ExperimentFile& e, const CaseParameters& p, std::size_t s) {
  return e.switches[s].outside && p.outside != LabOutside::kOurs;
}

/// Makes of our switch what somebody else has: one queue at each port, as [parameters] say.
void give_away(const ExperimentFile& e, sw::SwitchConfig& sw) {
  const sw::SwitchPortConfig& plain = e.parameters.programs().sw.ports.front();
  for (auto& port : sw.ports) {
    port.queue = plain.queue;
    port.marker = plain.marker;
    port.regulation = {};
  }
  sw.signals = {};
}

/// Returns whether packets from switch `at` to switch `to` may take the link.
bool leads_over(const ExperimentFile& e, const Topology& t, std::size_t at, std::size_t to,
                const TrunkEntry& link) {
  if (at == to) return false;
  return std::ranges::any_of(t.next[at][to], [&](std::size_t next) {
    const bool takes = e.switches[at].name == link.a && e.switches[next].name == link.b;
    return takes || leads_over(e, t, next, to, link);
  });
}

/// What our ports that lead to a bottleneck send at if they are shaped, over its rate: below it, so
/// that the queue is ours.
constexpr double kShapedShare = 0.95;

/// Has each port of our switch `s` know the bottlenecks that it leads to, and the hosts beyond; or
/// makes the port the bottleneck.
void heed_bottlenecks(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                      std::size_t s, sw::SwitchConfig& sw) {
  for (const auto& link : e.trunks) {
    if (!link.bottleneck) continue;
    for (auto& port : sw.ports) {
      RemotePolicy beyond{.name = link.a + '.' + port_towards(link.b), .rate = link.rate};
      for (std::size_t d = 0; d < e.switches.size(); ++d) {
        const bool over = std::ranges::any_of(t.next[s][d], [&](std::size_t next) {
          return port.name == port_towards(e.switches[next].name) &&
                 leads_over(e, t, next, d, link);
        });
        if (over) beyond.destinations.push_back(prefix_text(t.prefixes[d]));
      }
      if (beyond.destinations.empty()) continue;
      const auto shaped =
          static_cast<std::uint64_t>(kShapedShare * static_cast<double>(link.rate.bits_per_second));
      if (p.outside == LabOutside::kShaped)
        port.drain_rate = {std::min(port.drain_rate.bits_per_second, shaped)};
      else if (holds_windows(p.programs().mode()))
        port.regulation.window.beyond.push_back(std::move(beyond));
    }
  }
}

void add_trunks(const ExperimentFile& e, const CaseParameters& p, const sw::SwitchPortConfig& port,
                sw::SwitchProcessConfig& config) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t s = 0; s < e.switches.size(); ++s) index[e.switches[s].name] = s;
  const auto switch_named = [&](const std::string& name) -> sw::SwitchConfig& {
    return config.switches[index[name]];
  };
  for (const auto& trunk : e.trunks) {
    for (const auto& [from, to] : {std::pair{trunk.a, trunk.b}, {trunk.b, trunk.a}}) {
      auto& added = switch_named(from).ports.emplace_back(port);
      added.name = port_towards(to, trunk.parallel);
      added.drain_rate = trunk.rate;
      if (trunk.gray) added.loss = p.gray_loss;
      if (trunk.loss > 0) added.loss = trunk.loss;
    }
    auto& a_to_b = switch_named(trunk.a).ports.back();
    a_to_b.lose_packets = trunk.lose_packets;
    a_to_b.mark_packets = trunk.mark_packets;
    config.links.push_back({trunk.port_of_a(), trunk.port_of_b(), trunk.delay});
  }
}

void add_hosts(const Topology& t, const sw::SwitchPortConfig& port,
               sw::SwitchProcessConfig& config) {
  std::set<std::string_view> known;
  for (const auto& host : t.hosts) {
    auto& sw = config.switches[host.at_switch];
    if (known.insert(sw.name).second)
      config.devices.push_back(
          {.name = sw.name, .device = vhost_device(config.devices.size(), sw.name + ".sock")});
    auto& added = sw.ports.emplace_back(port);
    added.name = port_towards(host.name);
    added.drain_rate = host.rate;
    added.delay = host.delay;
    if (host.loss > 0) added.loss = host.loss;
    added.device = sw.name;
  }
}

/// Returns the ways from switch s to switch d that its packets take, as indices of neighbours.
std::vector<std::size_t> ways_of(const CaseParameters& p, const Topology& t, std::size_t s,
                                 std::size_t d) {
  const auto& ways = t.next[s][d];
  if (p.paths == LabPaths::kOne || ways.size() == 1) return {ways.front()};
  if (p.paths == LabPaths::kApart) return {s < d ? ways.front() : ways.back()};
  return ways;
}

/// A destination with the ways to it.
struct Destination {
  HostPrefix prefix;
  std::vector<std::size_t> ways;
};

/// Returns whether two prefixes are the halves of one.
bool are_halves(const HostPrefix& low, const HostPrefix& high) {
  const std::uint32_t size = 1U << (32 - low.length);
  return low.length == high.length && low.first % (2 * size) == 0 && high.first == low.first + size;
}

/// Joins halves that have equal ways, again and again: a core switch of a fabric needs a route for
/// each pod instead of one for each leaf. @pre in the order of the prefixes
std::vector<Destination> joined(std::vector<Destination> all) {
  std::vector<Destination> done;
  for (Destination& next : all) {
    done.push_back(std::move(next));
    while (done.size() > 1) {
      Destination& low = done[done.size() - 2];
      if (!are_halves(low.prefix, done.back().prefix) || low.ways != done.back().ways) break;
      --low.prefix.length;
      done.pop_back();
    }
  }
  return done;
}

/// Adds routes to the hosts of the other switches.
void add_routes(const ExperimentFile& e, const CaseParameters& p, const Topology& t, std::size_t s,
                const PortsBetween& between, sw::SwitchConfig& sw) {
  const bool one = p.paths == LabPaths::kOne || p.paths == LabPaths::kApart;
  std::vector<Destination> all;
  for (std::size_t d = 0; d < e.switches.size(); ++d)
    if (d != s && t.prefixes[d].length != 0) all.push_back({t.prefixes[d], ways_of(p, t, s, d)});
  if (e.in_fabric) all = joined(std::move(all));
  for (const auto& [prefix, ways] : all) {
    sw::RouteConfig route{.prefix = prefix_text(prefix)};
    for (const auto way : ways) {
      const auto& ports = between.at({e.switches[s].name, e.switches[way].name});
      route.ports.insert(route.ports.end(), ports.begin(), one ? ports.begin() + 1 : ports.end());
    }
    if (route.ports.size() == 1) route.port = std::exchange(route.ports, {}).front();
    else route.spray = p.paths == LabPaths::kSpray;
    if (route.ports.size() > 1 && p.paths == LabPaths::kFlowlets)
      route.flowlet_gap = p.programs().flowlet_gap;
    sw.routes.push_back(std::move(route));
  }
}

}  // namespace

void set_routes(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                sw::SwitchProcessConfig& config) {
  for (auto& sw : config.switches) sw.routes.clear();
  for (const auto& host : t.hosts)
    config.switches[host.at_switch].routes.push_back(
        {host.address + "/32", port_towards(host.name)});
  const PortsBetween between = ports_between(e.trunks);
  for (std::size_t s = 0; s < config.switches.size(); ++s)
    add_routes(e, p, t, s, between, config.switches[s]);
}

void plan_telemetry(const ExperimentFile& e, const CaseParameters& p,
                    const tg::GeneratorConfig& traffic, sw::SwitchProcessConfig& config,
                    ConfigIssues& issues) {
  const auto reads = [](const tg::TransportConfig& transport) {
    return transport.protocol == tg::TransportProtocol::kRoce &&
           tg::telemetry_bytes_of(transport.roce) != 0;
  };
  if (std::ranges::none_of(traffic.transports, reads)) return;
  for (std::size_t s = 0; s < config.switches.size(); ++s) {
    config.switches[s].hop_records.roce = true;
    if (is_outside(e, p, s))
      issues.push_back({"transport.roce.controller",
                        "\"hpcc\": needs telemetry of every switch, and \"" + e.switches[s].name +
                            "\" is somebody else's; choose another controller, or leave out its "
                            "outside = true"});
  }
}

std::string vhost_device(std::size_t index, const std::string& socket) {
  return "net_vhost" + std::to_string(index) + ",iface=" + socket + ",client=1";
}

std::string virtio_user_device(std::size_t index, const std::string& socket) {
  return "net_virtio_user" + std::to_string(index) + ",path=" + socket + ",server=1";
}

sw::SwitchProcessConfig plan_switches(const ExperimentFile& e, const CaseParameters& p,
                                      const Topology& t, const tg::GeneratorConfig& traffic) {
  const ProgramSettings& settings = p.programs();
  const sw::SwitchPortConfig port = port_of(settings);
  const std::vector<RoceBackground> background = roce_background_of(p);
  sw::SwitchProcessConfig config;
  config.bin = t.rtt;
  const bool all = e.network.measures_all();
  config.max_bins = all ? kMaxBinsOfEach : kMaxBins;
  if (all) config.max_burst_records = kMaxRecordsOfEach;
  for (std::size_t s = 0; s < e.switches.size(); ++s) {
    const ProgramSettings& its = is_outside(e, p, s) ? e.parameters.programs() : settings;
    auto& added = config.switches.emplace_back(its.sw);
    added.name = e.switches[s].name;
    added.ports.clear();
    if (e.has_job()) accept_signals(e, p, t, traffic, added.signals);
    else added.signals = {};  // nobody sends any
  }
  add_trunks(e, p, port, config);
  add_hosts(t, port, config);
  set_routes(e, p, t, config);
  for (std::size_t s = 0; s < config.switches.size(); ++s) {
    auto& sw = config.switches[s];
    for (auto& each : sw.ports) {
      const std::string name = sw.name + '.' + each.name;
      each.record = all || std::ranges::count(e.network.measured, name) != 0 ||
                    std::ranges::count(e.observed.queues, name) != 0;
    }
    if (is_outside(e, p, s)) {
      give_away(e, sw);
      continue;
    }
    if (p.outside == LabOutside::kTold || p.outside == LabOutside::kShaped)
      heed_bottlenecks(e, p, t, s, sw);
    if (settings.two_queues()) sw.classes.background_queue = 1;
    if (steers(settings.mode())) sw.classes.ddl_queue = 1;
    for (auto& each : sw.ports) share_link(settings.queues, background, each);
    serve_layers(traffic, sw);
    serve_datagrams(traffic, background, sw);
  }
  return config;
}

}  // namespace outrider::lab
