#include "tools/lab/plan/plan_switches.h"

#include <algorithm>

namespace outrider {
namespace {

/// Room for a signal per worker and iteration: the token bucket guards against
/// abuse, and must not throttle the job under study.
constexpr double kSignalTokensPerSecond = 10'000;
constexpr double kSignalTokenBurst = 256;

std::optional<Duration> lead_of(const CaseParameters& p, Duration rtt) {
  if (p.switch_lead_rtts < 0) return std::nullopt;
  return rtts_to_duration(p.switch_lead_rtts, rtt);
}

PredictPolicy predict_of(const CaseParameters& p, Duration rtt) {
  PredictPolicy predict;
  predict.from = p.regulation == RegulationMode::kOff ? PredictFrom::kOff : p.predict;
  predict.threshold_packets = p.h_packets;
  predict.idle_gap = rtts_to_duration(p.predict_idle_gap_rtts, rtt);
  return predict;
}

RegulationPolicy regulation_of(const CaseParameters& p, Duration rtt) {
  return {.mode = p.regulation,
          .recovery = p.recovery,
          .spare_ddl = p.spare_ddl,
          .hold = rtts_to_duration(p.hold_rtts, rtt),
          .idle_end = rtts_to_duration(p.idle_end_rtts, rtt),
          .expiry = rtts_to_duration(p.expiry_rtts, rtt),
          .budget_share = p.budget_share,
          .pace_floor = p.pace_floor,
          .window = {.rule = p.window_rule,
                     .floor = p.window_floor,
                     .gain = p.window_gain,
                     .standing_clamp = p.window_standing_clamp,
                     .release_rtts = p.window_release_rtts,
                     .spare_marks = p.window_spare_marks},
          .lead = lead_of(p, rtt),
          .predict = predict_of(p, rtt),
          .composition = p.composition};
}

MarkerKind kind_of(LabMarker marker) {
  switch (marker) {
    case LabMarker::kTailDrop:
      return MarkerKind::kTailDrop;
    case LabMarker::kRed:
      return MarkerKind::kRed;
    case LabMarker::kPie:
      return MarkerKind::kPie;
    case LabMarker::kCodel:
      return MarkerKind::kCodel;
    case LabMarker::kStep:
    case LabMarker::kStaticPair:
      break;
  }
  return MarkerKind::kStep;
}

MarkerConfig marker_of(const CaseParameters& p) {
  MarkerConfig marker{.kind = kind_of(p.marker), .at = p.mark_at, .threshold_packets = p.k_packets};
  if (p.early_drop) marker.not_ect = NotEct::kDrop;
  const Duration target = from_seconds(p.aqm_target_seconds);
  const Duration interval = from_seconds(p.aqm_interval_seconds);
  marker.red = {.kmin_packets = p.red_kmin_packets,
                .kmax_packets = static_cast<double>(p.k_packets),
                .pmax = p.red_pmax,
                .weight = p.red_weight};
  // Allowance over interval as in RFC 8033, 5.1.
  marker.pie.target = target;
  marker.pie.update_interval = interval;
  marker.pie.burst_allowance = 10 * interval;
  marker.codel = {.target = target, .interval = interval};
  if (p.marker == LabMarker::kStaticPair) {
    marker.threshold_packets = p.h_packets;
    marker.ddl_threshold_packets = p.k_packets;
  }
  return marker;
}

/// DDL data first, background after it; see LabScheduler.
void share_link(const CaseParameters& p, SwitchPortConfig& port) {
  if (p.scheduler == LabScheduler::kFifo) return;
  port.scheduler =
      p.scheduler == LabScheduler::kDwrr ? SchedulerKind::kDwrr : SchedulerKind::kStrictFloor;
  port.queues.assign(2, {port.queue, port.marker, port.regulation});
  port.queues[0].queue.weight = p.ddl_weight;
  if (p.scheduler == LabScheduler::kStrictFloor)
    port.queues[1].queue.floor_rate = BitRate{static_cast<std::uint64_t>(
        static_cast<double>(port.drain_rate.bits_per_second) * p.background_floor)};
}

/// Datagrams of the job, both ways, are DDL data; the layers' classes have a queue each, the
/// last of which is everybody else's as well.
void serve_layers(const CaseParameters& p, SwitchConfig& sw) {
  if (p.protocol != TransportProtocol::kMlt) return;
  RuleConfig to, from;
  const std::uint16_t first = JobConfig{}.tcp_port;
  const auto last = static_cast<std::uint16_t>(first + p.jobs - 1);  // see plan_jobs()
  to.protocol = from.protocol = kIpProtocolUdp;
  to.destination_ports = from.source_ports = PortRange{first, last};
  to.traffic_class = from.traffic_class = RuleClass::kDdl;
  sw.rules = {to, from};
  if (p.layer_classes == 1) return;
  ConfigTable queues;
  for (std::uint32_t c = 0; c < p.layer_classes; ++c)
    queues[std::to_string(layer_dscp(c, p.layer_classes))] = ConfigValue(std::int64_t{c});
  sw.classes.dscp = queues;
  sw.classes.background_queue = p.layer_classes - 1;
  for (auto& each : sw.ports) {
    each.scheduler = SchedulerKind::kStrict;
    each.queues.assign(p.layer_classes, {each.queue, each.marker, each.regulation});
  }
}

/// Signals are believed from the job's own hosts alone.
SignalConfig signals_of(const ExperimentFile& e, const CaseParameters& p, const Topology& t) {
  SignalConfig signals{.accept_tos = p.signal_form == SignalForm::kTos,
                       .accept_udp = p.signal_form == SignalForm::kUdp,
                       .tokens_per_second = kSignalTokensPerSecond,
                       .token_burst = kSignalTokenBurst};
  for (const auto& host : t.hosts)
    if (e.job.is_on(e.hosts[host.group].name)) signals.accept_from.push_back(host.address + "/32");
  return signals;
}

void add_trunks(const ExperimentFile& e, const CaseParameters& p, const SwitchPortConfig& port,
                SwitchProcessConfig& config) {
  const auto switch_named = [&](const std::string& name) -> SwitchConfig& {
    return *std::ranges::find(config.switches, name, &SwitchConfig::name);
  };
  for (const auto& trunk : e.trunks) {
    for (const auto& [from, to] : {std::pair{trunk.a, trunk.b}, {trunk.b, trunk.a}}) {
      auto& added = switch_named(from).ports.emplace_back(port);
      added.name = port_towards(to);
      added.drain_rate = trunk.rate;
      if (trunk.gray) added.loss = p.gray_loss;
    }
    config.links.push_back({trunk.a + '.' + port_towards(trunk.b),
                            trunk.b + '.' + port_towards(trunk.a), trunk.delay});
  }
}

void add_hosts(const ExperimentFile& e, const Topology& t, const SwitchPortConfig& port,
               SwitchProcessConfig& config) {
  for (const auto& host : t.hosts) {
    auto& sw = config.switches[host.at_switch];
    if (std::ranges::find(config.devices, sw.name, &DeviceConfig::name) == config.devices.end())
      config.devices.push_back(
          {.name = sw.name, .device = vhost_device(config.devices.size(), sw.name + ".sock")});
    auto& added = sw.ports.emplace_back(port);
    added.name = port_towards(host.name);
    added.drain_rate = e.hosts[host.group].rate;
    added.delay = host.delay;
    added.device = sw.name;
    sw.routes.push_back({host.address + "/32", added.name});
  }
}

/// To every other switch: by the first of equal ways, or by all of them.
void add_routes(const ExperimentFile& e, const CaseParameters& p, const Topology& t, std::size_t s,
                SwitchConfig& sw) {
  for (std::size_t d = 0; d < e.switches.size(); ++d) {
    if (d == s) continue;
    const auto& ways = t.next[s][d];
    RouteConfig route{.prefix = switch_prefix(d)};
    if (p.paths == LabPaths::kOne || ways.size() == 1) {
      route.port = port_towards(e.switches[ways.front()].name);
    } else {
      for (const auto way : ways) route.ports.push_back(port_towards(e.switches[way].name));
      route.spray = p.paths == LabPaths::kSpray;
    }
    sw.routes.push_back(std::move(route));
  }
}

}  // namespace

Duration rtts_to_duration(double rtts, Duration rtt) { return from_seconds(rtts * seconds(rtt)); }

std::string vhost_device(std::size_t index, const std::string& socket) {
  return "net_vhost" + std::to_string(index) + ",iface=" + socket + ",client=1";
}

std::string virtio_user_device(std::size_t index, const std::string& socket) {
  return "net_virtio_user" + std::to_string(index) + ",path=" + socket + ",server=1";
}

SwitchProcessConfig plan_switches(const ExperimentFile& e, const CaseParameters& p,
                                  const Topology& t) {
  SwitchPortConfig port;
  port.queue.limit_packets = p.queue_packets;
  port.marker = marker_of(p);
  port.regulation = regulation_of(p, t.rtt);
  SwitchProcessConfig config;
  config.bin = t.rtt;
  config.max_bins = kMaxBins;
  for (const auto& sw : e.switches) {
    auto& added = config.switches.emplace_back();
    added.name = sw.name;
    added.signals = signals_of(e, p, t);
  }
  add_trunks(e, p, port, config);
  add_hosts(e, t, port, config);
  for (std::size_t s = 0; s < config.switches.size(); ++s) {
    auto& sw = config.switches[s];
    add_routes(e, p, t, s, sw);
    if (p.scheduler != LabScheduler::kFifo) sw.classes.background_queue = 1;
    for (auto& each : sw.ports) {
      share_link(p, each);
      each.record = sw.name + '.' + each.name == e.network.measured;
    }
    serve_layers(p, sw);
  }
  return config;
}

}  // namespace outrider
