#include "tools/lab/experiment/experiment_parameters.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "common/config/config_file.h"
#include "common/config/quantities.h"
#include "common/core/quantity_bounds.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/background_sweeps.h"
#include "tools/lab/experiment/placement.h"

namespace outrider::lab {
namespace {

constexpr double kMaxRateFactor = 1000;
constexpr std::uint64_t kMaxLayerClasses = 7;  // class selectors above 0, each with a queue
constexpr std::uint32_t kMaxJobs = 256;        ///< each may have a key with an id of its own
constexpr double kMaxBurstFactor = 100;
constexpr double kMaxComputeSpread = 100;
constexpr double kMaxRateSpread = 1000;
constexpr std::uint32_t kMaxGroup = 10'000;  ///< hosts

/// Returns a number as the file would have it.
std::string as_in_file(double v) { return to_toml_text(ConfigValue(v)); }

/// Returns only the parameters of several jobs.
ConfigTable described_jobs(CaseParameters parameters) {
  ConfigTable table;
  ConfigWriter writer(table);
  describe_jobs(writer, parameters);
  return table;
}

void check_jobs(const Checks& at, const CaseParameters& p) {
  const tg::JobConfig& job = p.programs().job;
  at.in_range("jobs", p.jobs, 1, kMaxJobs);
  const std::uint64_t hosts = std::uint64_t{std::max(p.workers, p.servers)} * p.jobs;
  at.require(hosts <= kMaxGroup, "jobs", std::to_string(p.jobs),
             "times workers, and times servers, must be at most " + std::to_string(kMaxGroup));
  at.require(p.job_offset >= 0 && p.job_offset <= 1, "job_offset", as_in_file(p.job_offset),
             "must be from 0 to 1: a share of an iteration");
  at.in_interval("job_burst_factor", p.job_burst_factor, 0, kMaxBurstFactor, false);
  at.require(p.job_burst_factor == 1 || !job.model, "job_burst_factor",
             as_in_file(p.job_burst_factor), "must be 1 with a model: it says how long bursts are");
  const auto& key = job.announce.signal_key;
  at.require(!key || key->empty() || *key == kAutoKey, "job.announce.signal_key",
             Checks::quoted(key.value_or("")),
             "must be \"auto\": the plan makes a key for each job; or \"\" for none");
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
void check_signal_faults(const Checks& root, const ProgramSettings& s) {
  if (!acts_on_bursts(s.mode())) return;
  const Checks at = root.below("job.announce");
  const tg::AnnounceConfig& announce = s.job.announce;
  const tg::SignalFaultsConfig& faults = announce.faults;
  for (const auto& [key, share] : std::initializer_list<std::pair<std::string_view, double>>{
           {"faults.lost", faults.lost},
           {"faults.late", faults.late},
           {"faults.early", faults.early},
           {"faults.duplicated", faults.duplicated}})
    at.require(share == 0 || announce.lead_source != tg::LeadSource::kNone, key, as_in_file(share),
               "must be 0 with lead_source \"none\": no START is sent");
  at.require(faults.early == 0 || announce.lead_source != tg::LeadSource::kWait, "faults.early",
             as_in_file(faults.early),
             "needs lead_source \"overlap\": with \"wait\" nobody knows "
             "before that gradients will be ready");
  at.require(faults.late == 0 || faults.late_by > Duration{}, "faults.late_by",
             format_duration(faults.late_by), "must be above 0 with faults.late");
  at.require(faults.early == 0 || faults.early_by > Duration{}, "faults.early_by",
             format_duration(faults.early_by), "must be above 0 with faults.early");
}

/// Checks what needs two queues.
void check_queues(const Checks& at, const ProgramSettings& s) {
  constexpr const char* kTwo = "needs switch.scheduler: \"strict_floor\", \"strict\" or \"dwrr\"";
  at.require(!steers(s.mode()) || s.two_queues(), "switch.regulation.mode", "\"steer\"",
             std::string(kTwo) + ", with another queue to steer bursts to");
  const double of_ddl = s.queues.ddl.floor, of_background = s.queues.background.floor;
  at.require(s.queues.scheduler != LabScheduler::kStrictFloor || of_ddl + of_background <= 1,
             "switch.background_queue.floor", display(ConfigValue(of_background)),
             "must be at most 1 together with switch.ddl_queue.floor, " +
                 display(ConfigValue(of_ddl)) + ": both are shares of one link");
}

/// Checks that regulation acts on background over RoCEv2, and that it has the queue that it asks
/// for.
void check_roce_background(const Checks& at, const CaseParameters& p) {
  const ProgramSettings& s = p.programs();
  at.require(!has_roce_background_alone(p) || !rewrites_windows(s.mode()), "switch.regulation.mode",
             Checks::quoted(row_of(s.mode()).name),
             std::string("cannot hold ") +
                 (p.groups.empty() ? "background.protocol \"roce\""
                                   : "groups of background that all have protocol \"roce\"") +
                 ", which has no receive window: \"mark\", \"pace\" and \"mark_pace\" act on it");
  constexpr const char* kTwo =
      "needs switch.scheduler \"strict_floor\" or \"dwrr\": there is one queue";
  for (const BackgroundGroup& group : p.groups)
    at.below(group.place)
        .require(group.queue == LabRoceQueue::kBackground || s.two_queues(), "queue", "\"ddl\"",
                 kTwo);
  if (s.flows.queue == LabRoceQueue::kBackground) return;
  at.require(s.two_queues(), "background.queue", "\"ddl\"", kTwo);
  at.require(s.flows.protocol != LabBackgroundProtocol::kTcp, "background.queue", "\"ddl\"",
             "needs background.protocol \"roce\" or \"both\"");
}

/// Checks that switches can distinguish background over RoCEv2: bursts over it, and TCP, use the
/// same UDP port or no DSCP.
void check_dscps(const Checks& at, const CaseParameters& p) {
  const ProgramSettings& settings = p.programs();
  const tg::RoceConfig& ddl = settings.ddl.roce;
  const std::vector<RoceBackground> all = roce_background_of(p);
  for (const RoceBackground& one : all) {
    const std::uint32_t dscp = one.transport.roce.dscp;
    if (settings.ddl.protocol == tg::TransportProtocol::kRoce)
      at.require(dscp != ddl.dscp && dscp != ddl.cnp_dscp, one.key, std::to_string(dscp),
                 "must be another one than ddl.transport.roce has, " + std::to_string(ddl.dscp) +
                     " and " + std::to_string(ddl.cnp_dscp) +
                     ": switches tell bursts from background by it");
    at.require(dscp != 0 || one.queue == LabRoceQueue::kBackground, one.key, "0",
               "must not be 0 with " + std::string(p.groups.empty() ? "background." : "") +
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

void settle(CaseParameters& p, Duration rtt) {
  ConfigIssues ignored;
  p.read = std::make_shared<const ProgramSettings>(
      read_settings(p.settings, {.rtt = rtt, .h_packets = p.h_packets}, ignored));
}

std::uint32_t long_flows_per_pair(const CaseParameters& p) {
  if (!p.groups.empty()) return 0;
  const BackgroundFlows& flows = p.programs().flows;
  const bool come_and_go = find(p.settings, "background.load") != nullptr || !flows.list.empty() ||
                           !flows.capture.empty() ||
                           find(p.settings, "requests.connections") != nullptr;
  return flows.flows_per_pair.value_or(come_and_go ? 0 : 1);
}

bool has_background_flows(const CaseParameters& p) {
  return long_flows_per_pair(p) > 0 || p.programs().flows.load > 0;
}

bool has_requests(const CaseParameters& p) { return p.programs().requests.connections > 0; }

bool has_long_flows(const CaseParameters& p) {
  return long_flows_per_pair(p) > 0 || std::ranges::any_of(p.groups, [](const auto& group) {
           return group.long_flows.has_value();
         });
}

bool has_roce_background(const CaseParameters& p) {
  return p.groups.empty() ? p.programs().flows.protocol != LabBackgroundProtocol::kTcp
                          : std::ranges::any_of(p.groups, &BackgroundGroup::over_roce);
}

bool has_roce_background_alone(const CaseParameters& p) {
  return p.groups.empty() ? p.programs().flows.protocol == LabBackgroundProtocol::kRoce
                          : std::ranges::all_of(p.groups, &BackgroundGroup::over_roce);
}

bool is_regulator_parameter(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames{
      "outside", "job.announce.signal_key", "job.announce.lead", "job.announce.lead_source",
      "job.announce.pulls"};
  return name.starts_with("switch.regulation.") || name.starts_with("job.announce.faults.") ||
         std::ranges::find(kNames, name) != kNames.end();
}

bool needs_regulation(std::string_view name) {
  return is_regulator_parameter(name) && name != "outside";
}

Parameters to_all_parameters(const CaseParameters& parameters) {
  ConfigTable table;
  ConfigWriter writer(table);
  CaseParameters copy = parameters;
  describe_parameters(writer, copy);
  Parameters out;
  out.reserve(table.members.size());
  for (const auto& member : table.members)
    out.emplace_back(member.key, to_parameter_value(member.value));
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

namespace {

void check_regulation(const Checks& at, const ProgramSettings& s) {
  const RegulationPolicy& policy = s.regulation();
  at.require(!acts_on_bursts(policy.mode) || policy.predict.from == PredictFrom::kTraffic ||
                 s.job.announce.lead_source != tg::LeadSource::kNone,
             "job.announce.lead_source", "\"none\"",
             "must be \"wait\" or \"overlap\" with switch.regulation.mode " +
                 Checks::quoted(row_of(policy.mode).name) + ": nothing would arm it");
  at.require(s.ddl.protocol == tg::TransportProtocol::kTcp || !holds_windows(policy.mode) ||
                 policy.window.rule != WindowRule::kComplement,
             "switch.regulation.window.rule", "\"complement\"",
             "must be \"strict\" with protocols \"mlt\" and \"roce\": only TCP's "
             "acknowledgments tell what a burst has in flight; without them background would get "
             "the whole link");
}

void check_layers(const Checks& at, const CaseParameters& p) {
  constexpr const char* kClasses = "ddl.transport.mlt.class_dscps";
  const ProgramSettings& s = p.programs();
  const auto& classes = s.ddl.mlt.class_dscps;
  if (s.ddl.protocol != tg::TransportProtocol::kMlt || classes.empty()) return;
  const std::string value = std::to_string(classes.size()) + " classes";
  at.require(classes.size() <= kMaxLayerClasses, kClasses, value,
             "must be at most " + std::to_string(kMaxLayerClasses) + ", with a queue each");
  at.require(!s.two_queues(), kClasses, value,
             "needs switch.scheduler \"fifo\": the classes have strict queues of their own");
}

}  // namespace

ConfigIssues validate(const CaseParameters& p) {
  constexpr double kMostLearnerRate = 1000;
  ConfigIssues issues;
  const Checks at(issues);
  const ProgramSettings& s = p.programs();
  const auto within = [&at](std::string_view key, double v, double high) {
    at.require(v >= 0 && v <= high, key, as_in_file(v), "must be from 0 to " + as_in_file(high));
  };
  within("warm_up_seconds", p.warm_up_seconds, kLongest_seconds);
  within("limit_seconds", p.limit_seconds, kLongest_seconds);
  within("cost_window_seconds", p.cost_window_seconds, kLongest_seconds);
  check_layers(at, p);
  at.in_interval("rate_factor", p.rate_factor, 0, kMaxRateFactor, false);
  at.in_interval("learner_rate", p.learner_rate, 0, kMostLearnerRate, false);
  at.in_interval("gray_loss", p.gray_loss, 0, 1, true);
  within("compute_spread", p.compute_spread, kMaxComputeSpread);
  within("worker_rate_spread", p.worker_rate_spread, kMaxRateSpread);
  at.in_range("workers", p.workers, 1, 256);
  at.in_range("servers", p.servers, 1, 256);
  check_signal_faults(at, s);
  check_jobs(at, p);
  at.require(s.flows.load == 0 || !s.flows.sizes.empty(), "background.sizes", "\"\"",
             "is required with background.load, e.g. \"web-search\"");
  check_roce_background(at, p);
  at.require(p.skip_iterations < s.job.iterations, "skip_iterations",
             std::to_string(p.skip_iterations),
             "must be below job.iterations, " + std::to_string(s.job.iterations));
  at.require(p.paths != LabPaths::kFlowlets || s.flowlet_gap.has_value(), "paths", "\"flowlets\"",
             "needs switch.flowlet_gap, the silence after which a flow draws its path anew");
  check_regulation(at, s);
  check_queues(at, s);
  check_dscps(at, p);
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
