#include "tools/lab/plan/idle_parameters.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/quantities.h"
#include "tools/lab/fabric/network_entries.h"

namespace outrider::lab {
namespace {

/// Where a parameter may act: an experiment, and the parameters of one of its jobs in a row.
struct Place {
  const ExperimentFile& e;
  const CaseParameters& p;

  [[nodiscard]] bool has_setting(std::string_view name, std::string_view text) const {
    const ConfigValue* value = find(p.settings, name);
    const auto* own = value == nullptr ? nullptr : value->as<std::string>();
    return own != nullptr && *own == text;
  }
  [[nodiscard]] bool marker_is(std::string_view kind) const {
    const bool given = find(p.settings, "switch.marker.kind") != nullptr;
    return given ? has_setting("switch.marker.kind", kind) : kind == "step";
  }
  [[nodiscard]] const ProgramSettings& s() const { return p.programs(); }
  [[nodiscard]] const tg::SignalFaultsConfig& faults() const { return s().job.announce.faults; }
  [[nodiscard]] bool has_load() const { return s().flows.load > 0; }
  [[nodiscard]] bool has_list() const { return !s().flows.list.empty(); }
  [[nodiscard]] bool grants() const { return s().grants(); }
  [[nodiscard]] bool acts_on_bursts() const { return outrider::acts_on_bursts(s().mode()); }
  [[nodiscard]] bool hears_starts() const { return acts_on_bursts() || grants(); }
  /// Grants take idle_end for the silence that ends a burst, unless they have their own.
  [[nodiscard]] bool waits_for_idle_end() const {
    return (acts_on_bursts() && s().regulation().recovery == Recovery::kBurstEnd) ||
           (grants() && find(p.settings, "switch.regulation.grant.idle") == nullptr);
  }
  [[nodiscard]] bool copies_signals() const { return hears_starts() && faults().duplicated > 0; }
  [[nodiscard]] bool has_bands() const {
    return find(p.settings, "tensorlights.mode") != nullptr &&
           !has_setting("tensorlights.mode", "off");
  }
  [[nodiscard]] bool learns() const {
    return find(p.settings, "job.learner.model") != nullptr &&
           !has_setting("job.learner.model", "none");
  }
  [[nodiscard]] bool predicts() const {
    return acts_on_bursts() && find(p.settings, "switch.regulation.predict.from") != nullptr &&
           !has_setting("switch.regulation.predict.from", "off");
  }
  [[nodiscard]] bool bursts_over(tg::TransportProtocol protocol) const {
    return s().ddl.protocol == protocol;
  }
  [[nodiscard]] bool background_over_roce() const { return has_roce_background(p); }
};

/// A parameter, and what it needs to do anything.
struct Rule {
  std::string_view name;  ///< one that ends with a dot stands for all settings below it
  bool (*acts)(const Place&);
  std::string_view needs;
};

using At = const Place&;

bool has_several_jobs(At a) { return a.p.jobs > 1; }
bool has_several_workers(At a) { return a.p.workers > 1; }
bool hears_starts(At a) { return a.hears_starts(); }
bool has_fixed_bursts(At a) { return !a.s().job.model; }
bool bursts_over_mlt(At a) { return a.bursts_over(tg::TransportProtocol::kMlt); }
bool bursts_over_roce(At a) { return a.bursts_over(tg::TransportProtocol::kRoce); }
bool copies_signals(At a) { return a.copies_signals(); }
bool is_closed_loop(At a) { return a.s().job.schedule == tg::Schedule::kClosedLoop; }

bool has_two_queues(At a) { return a.s().two_queues(); }

/// Returns whether a setting of the row is "h".
bool names_h(At a) {
  return std::ranges::any_of(with_dotted_keys(a.p.settings), [](const auto& one) {
    return one.second == ConfigValue(std::string("h"));
  });
}

constexpr std::string_view kTwoQueues = "a switch.scheduler other than \"fifo\"";
constexpr std::string_view kRegulated = "a regulation, or grants: nothing hears of a START";
constexpr std::string_view kCopied =
    "job.announce.faults.duplicated above 0, and a regulation or grants";

constexpr std::array kRules{
    Rule{"job.burst_bytes", has_fixed_bursts,
         "job.model = \"\": the model says how long bursts are"},
    Rule{"job.compute", is_closed_loop, "job.schedule = \"closed_loop\""},
    Rule{"compute_spread", has_several_workers, "several workers"},
    Rule{"worker_rate_spread", has_several_workers, "several workers"},
    Rule{"job.period", [](At a) { return !is_closed_loop(a); }, "job.schedule = \"fixed\""},
    Rule{"learner_rate", [](At a) { return a.learns(); }, "a job.learner.model"},
    Rule{"job_offset", has_several_jobs, "several jobs"},
    Rule{"job_h_step_packets", has_several_jobs, "several jobs"},
    Rule{"job_burst_factor", has_several_jobs, "several jobs"},
    Rule{"host_placement", [](At a) { return a.e.in_fabric; }, "a [fabric]"},
    Rule{"switch.ddl_queue.weight",
         [](At a) { return a.s().queues.scheduler == LabScheduler::kDwrr; },
         "switch.scheduler = \"dwrr\""},
    Rule{"switch.background_queue.floor",
         [](At a) { return a.s().queues.scheduler == LabScheduler::kStrictFloor; },
         "switch.scheduler = \"strict_floor\""},
    Rule{"switch.ddl_queue.floor",
         [](At a) { return a.s().queues.scheduler == LabScheduler::kStrictFloor; },
         "switch.scheduler = \"strict_floor\""},
    Rule{"switch.background_queue.weight",
         [](At a) { return a.s().queues.scheduler == LabScheduler::kDwrr; },
         "switch.scheduler = \"dwrr\""},
    Rule{"switch.ddl_queue.", has_two_queues, kTwoQueues},
    Rule{"switch.background_queue.", has_two_queues, kTwoQueues},
    Rule{"outside", [](At a) { return std::ranges::any_of(a.e.switches, &SwitchEntry::outside); },
         "a [[switch]] with outside = true"},
    Rule{"gray_loss", [](At a) { return std::ranges::any_of(a.e.trunks, &TrunkEntry::gray); },
         "a [[link]] with gray = true"},
    Rule{"switch.regulation.recovery", [](At a) { return a.acts_on_bursts(); },
         "a regulation: grants end with the burst, or with grant.idle"},
    Rule{"switch.regulation.spare_ddl", [](At a) { return marks(a.s().mode()); },
         "a regulation that marks"},
    Rule{"h_packets", [](At a) { return a.s().regulates() || names_h(a); }, kRegulated},
    Rule{"job.announce.faults.lost", hears_starts, kRegulated},
    Rule{"job.announce.faults.late", hears_starts, kRegulated},
    Rule{"job.announce.faults.late_by", [](At a) { return a.faults().late > 0; },
         "job.announce.faults.late above 0"},
    Rule{"job.announce.faults.early", hears_starts, kRegulated},
    Rule{"job.announce.faults.early_by", [](At a) { return a.faults().early > 0; },
         "job.announce.faults.early above 0"},
    Rule{"job.announce.faults.duplicated", hears_starts, kRegulated},
    Rule{"job.announce.faults.copies", copies_signals, kCopied},
    Rule{"job.announce.faults.copy_gap", copies_signals, kCopied},
    Rule{"job.announce.faults.forged_per_second", hears_starts, kRegulated},
    Rule{"job.announce.faults.forged_tag", [](At a) { return a.faults().forged_per_second > 0; },
         "job.announce.faults.forged_per_second above 0"},
    Rule{"job.announce.faults.replayed_per_second", hears_starts, kRegulated},
    Rule{"background.sizes", [](At a) { return a.has_load(); },
         "a background.load: these are the sizes of its flows"},
    Rule{"background.protocol", [](At a) { return has_background_flows(a.p) || a.has_list(); },
         "long flows, a load or a list: requests and captures have a transport of their own"},
    Rule{"background.queue_pairs",
         [](At a) { return a.background_over_roce() && (a.has_load() || a.has_list()); },
         "a load or a list over RoCEv2"},
    Rule{"background.start_spread", [](At a) { return has_long_flows(a.p); },
         "long flows: these are what it spreads"},
    Rule{"switch.marker.threshold_packets", [](At a) { return a.marker_is("step"); },
         "switch.marker.kind = \"step\""},
    Rule{"switch.marker.background_threshold_packets", [](At a) { return a.marker_is("step"); },
         "switch.marker.kind = \"step\""},
    Rule{"switch.marker.red.", [](At a) { return a.marker_is("red"); },
         "switch.marker.kind = \"red\""},
    Rule{"switch.marker.pie.", [](At a) { return a.marker_is("pie"); },
         "switch.marker.kind = \"pie\""},
    Rule{"switch.marker.pi2.", [](At a) { return a.marker_is("pi2"); },
         "switch.marker.kind = \"pi2\""},
    Rule{"switch.marker.codel.", [](At a) { return a.marker_is("codel"); },
         "switch.marker.kind = \"codel\""},
    Rule{"switch.regulation.window.", [](At a) { return rewrites_windows(a.s().mode()); },
         "a regulation that rewrites windows, such as \"window\""},
    Rule{"switch.regulation.predict.", [](At a) { return a.predicts(); },
         "switch.regulation.predict.from and a regulation"},
    Rule{"switch.regulation.pace_floor", [](At a) { return paces(a.s().mode()); },
         "switch.regulation.mode = \"pace\" or \"mark_pace\""},
    Rule{"switch.regulation.hold",
         [](At a) { return a.acts_on_bursts() && a.s().regulation().recovery == Recovery::kTimer; },
         "a regulation with recovery = \"timer\""},
    Rule{"switch.regulation.idle_end", [](At a) { return a.waits_for_idle_end(); },
         "a regulation with recovery = \"burst_end\", or grants without grant.idle"},
    Rule{"switch.regulation.grant.", [](At a) { return a.grants(); },
         "switch.regulation.grant.order"},
    Rule{"tensorlights.interval", [](At a) { return a.has_setting("tensorlights.mode", "rotate"); },
         "tensorlights.mode = \"rotate\""},
    Rule{"tensorlights.", [](At a) { return a.has_bands(); },
         "tensorlights.mode = \"one\" or \"rotate\""},
    Rule{"transport.mlt.", bursts_over_mlt, "ddl.transport.protocol = \"mlt\""},
    Rule{"ddl.transport.mlt.", bursts_over_mlt, "ddl.transport.protocol = \"mlt\""},
    Rule{"requests.", [](At a) { return has_requests(a.p); }, "requests.connections"},
    Rule{"transport.roce.", [](At a) { return bursts_over_roce(a) || a.background_over_roce(); },
         "ddl.transport.protocol = \"roce\", or background over it"},
    Rule{"ddl.transport.roce.", bursts_over_roce, "ddl.transport.protocol = \"roce\""},
    Rule{"background.transport.roce.", [](At a) { return a.background_over_roce(); },
         "background.protocol = \"roce\" or \"both\""}};

const Rule* rule_of(std::string_view name) {
  const auto it = std::ranges::find_if(kRules, [name](const Rule& rule) {
    return rule.name.ends_with('.') ? name.starts_with(rule.name) : name == rule.name;
  });
  return it == kRules.end() ? nullptr : it;
}

constexpr const char* kParameters = "parameters";  // the place that all arms share

/// A value that does nothing in the rows that were looked at.
struct Idle {
  const Rule* rule;
  std::string name;
  ConfigValue value;
  std::string place;  ///< that gives it
  bool acts = false;
};

using NamedValues = std::vector<std::pair<std::string, ConfigValue>>;

ConfigTable written(CaseParameters p) {
  ConfigTable table;
  ConfigWriter writer(table);
  describe_parameters(writer, p);
  return table;
}

/// Zero is how a parameter is turned off.
bool is_zero(const ConfigValue& value) {
  if (const auto* text = value.as<std::string>()) {
    const auto duration = parse_duration(*text);
    if (duration.value && *duration.value == Duration{}) return true;
  }
  return value == ConfigValue(0.0) || value == ConfigValue(std::int64_t{0}) ||
         value == ConfigValue(std::string()) || value == ConfigValue(std::string("off"));
}

/// Returns what a row has for the rules, without what it has by default and what is turned off.
NamedValues values_of(const CaseParameters& p) {
  static const ConfigTable kDefaults = written({});
  NamedValues values;
  for (const auto& [name, value] : written(p).members) {
    const ConfigValue* usual = kDefaults.get(name);
    if ((usual == nullptr || *usual != value) && !is_zero(value) && rule_of(name) != nullptr)
      values.emplace_back(name, value);
  }
  for (auto& [name, value] : with_dotted_keys(p.settings))
    if (rule_of(name) != nullptr && !is_zero(value)) values.emplace_back(name, std::move(value));
  return values;
}

/// Returns whether a value acts in a row, or in one of the listed jobs there.
bool acts(const Rule& rule, const ExperimentFile& e, const CaseParameters& p) {
  if (rule.acts({e, p})) return true;
  // A switch that is somebody else's has the queues of [parameters], whatever an arm says.
  if (std::ranges::any_of(e.switches, &SwitchEntry::outside) && rule.acts({e, e.parameters}))
    return true;
  return std::ranges::any_of(e.jobs, [&](const ListedJob& job) {
    return rule.acts({e, parameters_of(job, p, e.network.rtt)});
  });
}

std::string place_of_arm(const std::string& label) { return "arm \"" + label + '"'; }

/// Returns the place of a value that is the row's alone.
std::string place_of(const PlannedRow& row) {
  return row.origin.starts_with("arm[") ? place_of_arm(row.label) : row.origin;
}

/// Returns whether the file gives the value. What a base gives, it gives for others too.
bool is_own(const ExperimentFile& e, const Idle& one) {
  if (one.place == kParameters)
    return std::ranges::find(e.own_parameters, one.name) != e.own_parameters.end();
  return std::ranges::none_of(
      e.lent_arms, [&one](const std::string& label) { return one.place == place_of_arm(label); });
}

/// Returns whether a job of a list has a value of its own for a parameter or setting.
bool has_own(const ListedJob& job, const std::string& name) {
  if (find(job.own, name) != nullptr) return true;
  for (const std::string_view prefix : {"job.", "ddl."})
    if (name.starts_with(prefix) && find(job.own, name.substr(prefix.size())) != nullptr)
      return true;
  return false;
}

/// Warns of sweeps whose points are alike, because every job of the list has its own value.
void add_of_sweeps(const ExperimentFile& e, ConfigIssues& issues) {
  if (e.jobs.empty()) return;
  for (const Sweep& sweep : e.sweeps) {
    if (sweep.points.empty()) continue;
    for (const auto& [name, value] : sweep.points.front())
      if (std::ranges::all_of(e.jobs,
                              [&n = name](const ListedJob& job) { return has_own(job, n); }))
        issues.push_back(
            {join_key(sweep.key, name),
             "has no effect, so that all points are alike: every [[job]] gives its own"});
  }
}

}  // namespace

ConfigIssues idle_parameters(const ExperimentFile& e, std::span<const PlannedRow> rows) {
  const NamedValues of_file = values_of(e.parameters);
  std::vector<Idle> found;
  for (const PlannedRow& row : rows)
    for (auto& [name, value] : values_of(row.parameters)) {
      auto it = std::ranges::find_if(found, [&n = name, &v = value](const Idle& one) {
        return one.name == n && one.value == v;
      });
      if (it == found.end()) {
        const bool shared = std::ranges::find(of_file, std::pair(name, value)) != of_file.end();
        it = found.insert(it, {rule_of(name), name, value, shared ? kParameters : place_of(row)});
      }
      it->acts = it->acts || acts(*it->rule, e, row.parameters);
    }
  ConfigIssues issues;
  for (const Idle& one : found)
    if (!one.acts && is_own(e, one))
      issues.push_back(
          {join_key(one.place, one.name),
           display(one.value) + " has no effect: it needs " + std::string(one.rule->needs)});
  add_of_sweeps(e, issues);
  return issues;
}

}  // namespace outrider::lab
