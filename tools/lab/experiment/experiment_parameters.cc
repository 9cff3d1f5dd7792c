#include "tools/lab/experiment/experiment_parameters.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "common/config/config_file.h"
#include "common/core/quantity_bounds.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/background_sweeps.h"
#include "tools/lab/experiment/placement.h"

namespace outrider::lab {
namespace {

ParameterValue value_of(const ConfigValue& v) {
  if (const auto* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i;
  if (const auto* d = v.as<double>()) return *d;
  return *v.as<std::string>();  // describe(CaseParameters) has no lists or tables
}

constexpr double kMaxRateFactor = 1000;
constexpr std::uint64_t kMaxLayerClasses = 7;  // class selectors above 0, each with a queue
constexpr double kLongest_rtts = 1e6;
constexpr std::uint32_t kMaxJobs = 256;  ///< each may have a key with an id of its own
constexpr double kMaxBurstFactor = 100;
constexpr double kMaxComputeSpread = 100;
constexpr double kMaxRateSpread = 1000;
constexpr std::uint32_t kMaxGroup = 10'000;  ///< hosts

/// Returns a number as the file would have it.
std::string as_in_file(double v) { return to_toml_text(ConfigValue(v)); }

ConfigTable described_regulator() {
  ConfigTable table;
  ConfigWriter writer(table);
  CaseParameters parameters;
  describe_regulator(writer, parameters);
  return table;
}

/// Returns only the parameters of several jobs.
ConfigTable described_jobs(CaseParameters parameters) {
  ConfigTable table;
  ConfigWriter writer(table);
  describe_jobs(writer, parameters);
  return table;
}

void check_jobs(const Checks& at, const CaseParameters& p) {
  at.in_range("jobs", p.jobs, 1, kMaxJobs);
  const std::uint64_t hosts = std::uint64_t{std::max(p.workers, p.servers)} * p.jobs;
  at.require(hosts <= kMaxGroup, "jobs", std::to_string(p.jobs),
             "times workers, and times servers, must be at most " + std::to_string(kMaxGroup));
  at.require(p.job_offset >= 0 && p.job_offset <= 1, "job_offset", as_in_file(p.job_offset),
             "must be from 0 to 1: a share of an iteration");
  at.in_interval("job_burst_factor", p.job_burst_factor, 0, kMaxBurstFactor, false);
  at.require(p.job_burst_factor == 1 || p.model.empty(), "job_burst_factor",
             as_in_file(p.job_burst_factor), "must be 1 with a model: it says how long bursts are");
  if (p.placement.empty()) return;
  const auto placed = at.parses("placement", p.placement, parse_placement(p.placement));
  if (!placed) return;
  const std::size_t servers = server_hosts(*placed).size();
  at.require(servers == p.jobs, "placement", Checks::quoted(p.placement),
             "places " + std::to_string(servers) + " jobs; jobs is " + std::to_string(p.jobs));
  at.require(placed->size() <= p.workers + 1, "placement", Checks::quoted(p.placement),
             "needs " + std::to_string(placed->size()) + " hosts; there are workers + 1, " +
                 std::to_string(p.workers + 1));
  at.require(p.servers == 1, "servers", std::to_string(p.servers),
             "must be 1 with placement: it says where the one server of each job is");
}

/// Checks the signal faults of an arm that acts on bursts. (The generator checks the other rules,
/// because the point of a sweep may still change what they need.)
void check_signal_faults(const Checks& at, const CaseParameters& p) {
  if (!acts_on_bursts(p.regulation)) return;
  for (const auto& [key, share] : std::initializer_list<std::pair<std::string_view, double>>{
           {"signal_lost", p.signal_lost},
           {"signal_late", p.signal_late},
           {"signal_early", p.signal_early},
           {"signal_duplicated", p.signal_duplicated}})
    at.require(share == 0 || p.lead_source != tg::LeadSource::kNone, key, as_in_file(share),
               "must be 0 with lead_source \"none\": no START is sent");
  at.require(p.signal_early == 0 || p.lead_source != tg::LeadSource::kWait, "signal_early",
             as_in_file(p.signal_early),
             "needs lead_source \"overlap\": with \"wait\" nobody knows "
             "before that gradients will be ready");
  at.require(p.signal_late == 0 || p.signal_late_rtts > 0, "signal_late_rtts",
             as_in_file(p.signal_late_rtts), "must be above 0 with signal_late");
  at.require(p.signal_early == 0 || p.signal_early_rtts > 0, "signal_early_rtts",
             as_in_file(p.signal_early_rtts), "must be above 0 with signal_early");
}

/// Checks shares and rates here, under the parameters' own keys: a program would name its setting.
void check_shares(const Checks& at, const CaseParameters& p) {
  constexpr double kMostSignals = 1e6;  // 1/s
  constexpr double kLeastWeight = 0.01, kMostWeight = 100, kMostLearnerRate = 1000;
  at.in_interval("background_floor", p.background_floor, 0, 1, false);
  at.in_interval("ddl_weight", p.ddl_weight, kLeastWeight, kMostWeight, true);
  at.in_interval("learner_rate", p.learner_rate, 0, kMostLearnerRate, false);
  for (const auto& [key, most, v] :
       std::initializer_list<std::tuple<std::string_view, double, double>>{
           {"gray_loss", 1, p.gray_loss},
           {"send_jitter", 1, p.send_jitter},
           {"signal_lost", 1, p.signal_lost},
           {"signal_late", 1, p.signal_late},
           {"signal_early", 1, p.signal_early},
           {"signal_duplicated", 1, p.signal_duplicated},
           {"signal_forged_per_second", kMostSignals, p.signal_forged_per_second},
           {"signal_replayed_per_second", kMostSignals, p.signal_replayed_per_second}})
    at.in_interval(key, v, 0, most, true);
}

/// Checks what needs two queues.
void check_queues(const Checks& at, const CaseParameters& p, const sw::SwitchPortConfig& port) {
  constexpr std::uint32_t kLeastSplit = 4;  // two of each half, so that each may have a threshold
  constexpr double kMostAlpha = 1000;       // as switch.queue.alpha
  const bool one_queue = p.scheduler == LabScheduler::kFifo;
  at.require(!steers(p.regulation) || !one_queue, "regulation", "\"steer\"",
             "needs scheduler \"strict_floor\" or \"dwrr\": another queue to steer bursts to");
  for (const auto& [key, alpha] : {std::pair<std::string_view, double>{"ddl_alpha", p.ddl_alpha},
                                   {"background_alpha", p.background_alpha}}) {
    at.require(alpha == 0 || !one_queue, key, as_in_file(alpha),
               "needs scheduler \"strict_floor\" or \"dwrr\": one queue has one alpha");
    at.require(alpha >= 0 && alpha <= kMostAlpha, key, as_in_file(alpha),
               "must be from 0 to " + as_in_file(kMostAlpha));
  }
  if (p.queue_room == LabQueueRoom::kEach) return;
  at.require(!one_queue, "queue_room", "\"split\"",
             "needs scheduler \"strict_floor\" or \"dwrr\": one queue has all the room");
  at.require(port.queue.limit_packets >= kLeastSplit, "queue_room", "\"split\"",
             "needs switch.queue.limit_packets of at least " + std::to_string(kLeastSplit));
}

/// Checks that regulation acts on background over RoCEv2, and that it has the queue that it asks
/// for.
void check_roce_background(const Checks& at, const CaseParameters& p) {
  at.require(!has_roce_background_alone(p) || !rewrites_windows(p.regulation), "regulation",
             Checks::quoted(row_of(p.regulation).name),
             std::string("cannot hold ") +
                 (p.groups.empty() ? "background_protocol \"roce\""
                                   : "groups of background that all have protocol \"roce\"") +
                 ", which has no receive window: \"mark\", \"pace\" and \"mark_pace\" act on it");
  for (const BackgroundGroup& group : p.groups)
    at.below(group.place)
        .require(group.queue == LabRoceQueue::kBackground || p.scheduler != LabScheduler::kFifo,
                 "queue", "\"ddl\"",
                 "needs the parameter scheduler \"strict_floor\" or \"dwrr\": there is one queue");
  at.require(p.background_roce_queue == LabRoceQueue::kBackground ||
                 (p.background_protocol != LabBackgroundProtocol::kTcp &&
                  p.scheduler != LabScheduler::kFifo),
             "background_roce_queue", "\"ddl\"",
             "needs background_protocol \"roce\" or \"both\", and scheduler \"strict_floor\" or "
             "\"dwrr\"");
}

/// Checks that switches can distinguish background over RoCEv2: bursts over it, and TCP, use the
/// same UDP port or no DSCP.
void check_dscps(const Checks& at, const CaseParameters& p, const ProgramSettings& settings) {
  const tg::RoceConfig& ddl = settings.ddl.roce;
  const std::vector<RoceBackground> all = roce_background_of(p, settings);
  for (const RoceBackground& one : all) {
    const std::uint32_t dscp = one.transport.roce.dscp;
    if (p.protocol == tg::TransportProtocol::kRoce)
      at.require(dscp != ddl.dscp && dscp != ddl.cnp_dscp, one.key, std::to_string(dscp),
                 "must be another one than ddl.transport.roce has, " + std::to_string(ddl.dscp) +
                     " and " + std::to_string(ddl.cnp_dscp) +
                     ": switches tell bursts from background by it");
    at.require(dscp != 0 || one.queue == LabRoceQueue::kBackground, one.key, "0",
               "must not be 0 with " + std::string(p.groups.empty() ? "background_roce_" : "") +
                   "queue \"ddl\": TCP has it");
    at.require(std::ranges::none_of(all,
                                    [&](const RoceBackground& other) {
                                      return other.queue != one.queue &&
                                             other.queue == LabRoceQueue::kDdl &&
                                             other.transport.roce.dscp == dscp;
                                    }),
               one.key, std::to_string(dscp),
               "must be another one than a group with queue \"ddl\" has: switches choose the queue "
               "by it");
  }
}

}  // namespace

std::uint32_t long_flows_per_pair(const CaseParameters& p) {
  if (!p.groups.empty()) return 0;
  const bool come_and_go = p.background_load || !p.background_list.empty() ||
                           !p.background_capture.empty() ||
                           find(p.settings, "requests.connections") != nullptr;
  return p.background_flows_per_pair.value_or(come_and_go ? 0 : 1);
}

bool has_background_flows(const CaseParameters& p) {
  return long_flows_per_pair(p) > 0 || p.background_load.value_or(0) > 0;
}

bool has_requests(const CaseParameters& p) {
  const ConfigValue* connections = find(p.settings, "requests.connections");
  return connections != nullptr && *connections != ConfigValue(std::int64_t{0});
}

bool has_long_flows(const CaseParameters& p) {
  return long_flows_per_pair(p) > 0 || std::ranges::any_of(p.groups, [](const auto& group) {
           return group.long_flows.has_value();
         });
}

bool has_roce_background(const CaseParameters& p) {
  return p.groups.empty() ? p.background_protocol != LabBackgroundProtocol::kTcp
                          : std::ranges::any_of(p.groups, &BackgroundGroup::over_roce);
}

bool has_roce_background_alone(const CaseParameters& p) {
  return p.groups.empty() ? p.background_protocol == LabBackgroundProtocol::kRoce
                          : std::ranges::all_of(p.groups, &BackgroundGroup::over_roce);
}

bool is_regulator_parameter(std::string_view name) {
  if (is_setting(name))
    return name.starts_with("switch.regulation.") || name == "job.announce.pulls";
  static const ConfigTable kRegulator = described_regulator();
  return kRegulator.get(name) != nullptr;
}

Parameters to_all_parameters(const CaseParameters& parameters) {
  ConfigTable table;
  ConfigWriter writer(table);
  CaseParameters copy = parameters;
  copy.background_flows_per_pair = long_flows_per_pair(parameters);
  copy.background_load = parameters.background_load.value_or(0);
  if (!holds_windows(copy.regulation))
    copy.lead_rtts = copy.lead_rtts.value.value_or(kPaperLead_rtts);
  describe_parameters(writer, copy);
  Parameters out;
  out.reserve(table.members.size());
  for (const auto& member : table.members) {
    // The key ends with _bytes, so bytes() writes the size without a unit.
    out.emplace_back(member.key, value_of(member.value));
  }
  if (!parameters.groups.empty())
    out.emplace_back(kGroupsParameter, text_of_groups(parameters.groups));
  return out;
}

Parameters to_parameters(const CaseParameters& parameters) {
  static const ConfigTable kOneJob = described_jobs({});
  Parameters out = to_all_parameters(parameters);
  if (described_jobs(parameters) == kOneJob)
    std::erase_if(out, [](const auto& p) { return kOneJob.get(p.first) != nullptr; });
  return out;
}

ConfigIssues validate(const CaseParameters& p) {
  ConfigIssues issues;
  const Checks at(issues);
  const auto within = [&at](std::string_view key, double v, double high) {
    at.require(v >= 0 && v <= high, key, as_in_file(v), "must be from 0 to " + as_in_file(high));
  };
  for (const auto& [key, rtts] : std::initializer_list<std::pair<std::string_view, double>>{
           {"lead_rtts", p.lead_rtts.value.value_or(0)},
           {"signal_late_rtts", p.signal_late_rtts},
           {"signal_early_rtts", p.signal_early_rtts},
           {"signal_copy_gap_rtts", p.signal_copy_gap_rtts}})
    within(key, rtts, kLongest_rtts);
  for (const auto& [key, s] : std::initializer_list<std::pair<std::string_view, double>>{
           {"warm_up_seconds", p.warm_up_seconds},
           {"period_seconds", p.period_seconds},
           {"compute_seconds", p.compute_seconds},
           {"start_spread_seconds", p.start_spread_seconds},
           {"limit_seconds", p.limit_seconds},
           {"connection_sample_seconds", p.connection_sample_seconds},
           {"cost_window_seconds", p.cost_window_seconds}})
    within(key, s, kLongest_seconds);
  at.in_range("layer_classes", p.layer_classes, 1, kMaxLayerClasses);
  at.require(p.layer_classes == 1 || p.protocol == tg::TransportProtocol::kMlt, "layer_classes",
             std::to_string(p.layer_classes), "needs protocol \"mlt\": the others have no layers");
  at.require(p.layer_classes == 1 || p.scheduler == LabScheduler::kFifo, "layer_classes",
             std::to_string(p.layer_classes),
             "needs scheduler \"fifo\": the classes have strict queues of their own");
  at.in_interval("rate_factor", p.rate_factor, 0, kMaxRateFactor, false);
  check_shares(at, p);
  within("compute_spread", p.compute_spread, kMaxComputeSpread);
  within("worker_rate_spread", p.worker_rate_spread, kMaxRateSpread);
  at.in_range("workers", p.workers, 1, 256);
  at.in_range("servers", p.servers, 1, 256);
  check_signal_faults(at, p);
  check_jobs(at, p);
  const double load = p.background_load.value_or(0);
  at.require(load >= 0 && load <= 2, "background_load", as_in_file(load), "must be from 0 to 2");
  at.require(load == 0 || !p.background_sizes.empty(), "background_sizes", "\"\"",
             "is required with background_load, e.g. \"../distributions/web-search.cdf\"");
  check_roce_background(at, p);
  at.require(p.skip_iterations < p.iterations, "skip_iterations", std::to_string(p.skip_iterations),
             "must be below iterations, " + std::to_string(p.iterations));
  return issues;
}

ConfigIssues validate(const CaseParameters& p, const ProgramSettings& settings) {
  ConfigIssues issues;
  const Checks at(issues);
  const RegulationPolicy& policy = settings.sw.ports.front().regulation;
  at.require(!acts_on_bursts(p.regulation) || policy.predict.from == PredictFrom::kTraffic ||
                 p.lead_source != tg::LeadSource::kNone,
             "lead_source", "\"none\"",
             "must be \"wait\" or \"overlap\" with regulation \"mark\": nothing would arm it");
  at.require(
      p.protocol == tg::TransportProtocol::kTcp || !holds_windows(p.regulation) ||
          policy.window.rule != WindowRule::kComplement,
      "switch.regulation.window.rule", "\"complement\"",
      "must be \"strict\" with protocols \"mlt\" and \"roce\": only TCP's acknowledgments tell "
      "what a burst has in flight; without them background would get the whole link");
  const bool steps = settings.sw.ports.front().marker.kind == sw::MarkerKind::kStep;
  at.require(!p.static_pair || steps, "static_pair", "true", "needs switch.marker.kind \"step\"");
  check_queues(at, p, settings.sw.ports.front());
  check_dscps(at, p, settings);
  return issues;
}

std::string assign_parameter(CaseParameters& parameters, const std::string& name,
                             const ConfigValue& value) {
  if (const auto key = group_key_of(name); key && !parameters.groups.empty())
    return assign_to_group(parameters.groups, *key, value);
  if (is_setting(name))
    return assign(parameters.settings, name, value)
               ? std::string{}
               : display(value) + ": cannot be set beside another part of it";
  ConfigIssues issues;
  ConfigTable table;
  table[name] = value;
  read_config(table, "", parameters, issues);
  return issues.empty() ? std::string{} : issues.front().problem;
}

}  // namespace outrider::lab
