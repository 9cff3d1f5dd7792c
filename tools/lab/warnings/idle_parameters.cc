#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/quantities.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/fabric/network_entries.h"
#include "tools/lab/warnings/advice.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/transport/base/tcp_stack.h"

namespace outrider::lab {
namespace {

/// Where a parameter may act: an experiment, and the parameters of a row or of one of its jobs.
struct Place {
  const ExperimentFile& e;
  const CaseParameters& p;

  [[nodiscard]] const ProgramSettings& s() const { return p.programs(); }
  [[nodiscard]] const tg::SignalFaultsConfig& faults() const { return s().job.announce.faults; }
  [[nodiscard]] bool sends_sizes() const { return s().flows.load > 0 || !s().flows.list.empty(); }
  [[nodiscard]] bool acts_on_bursts() const { return outrider::acts_on_bursts(s().mode()); }
  /// Grants take idle_end for the silence that ends a burst, unless they have their own.
  [[nodiscard]] bool waits_for_idle_end() const {
    return (acts_on_bursts() && s().regulation().recovery == Recovery::kBurstEnd) ||
           (s().grants() && find(p.settings, "switch.regulation.grant.idle") == nullptr);
  }
};

using At = const Place&;

/// A parameter, and what it needs to do anything.
struct Rule {
  std::string_view name;  ///< one that ends with a dot stands for all settings below it
  /// The setting that decides, or if `acts` does, its words.
  std::string_view needs;
  /// The value of the setting that decides with which the parameter acts; after "!" the one with
  /// which it does not.
  std::string_view value{};
  bool (*acts)(At) = nullptr;
};

bool hears_starts(At a) { return a.acts_on_bursts() || a.s().grants(); }
bool copies_signals(At a) { return hears_starts(a) && a.faults().duplicated > 0; }
bool has_roce(At a) { return has_roce_background(a.p); }

/// Returns whether a setting of the row is "h".
bool names_h(At a) {
  return std::ranges::any_of(with_dotted_keys(a.p.settings), [](const auto& one) {
    return one.second == ConfigValue(std::string("h"));
  });
}

constexpr std::string_view kRegulated = "a regulation, or grants: nothing hears of a START";
constexpr std::string_view kCopied =
    "job.announce.faults.duplicated above 0, and a regulation or grants";

constexpr std::array kRules{
    Rule{"job.burst_bytes", "job.model", ""},
    Rule{"job.compute", "job.schedule", "closed_loop"},
    Rule{"compute_spread", "workers", "!1"},
    Rule{"worker_rate_spread", "workers", "!1"},
    Rule{"job.period", "job.schedule", "fixed"},
    Rule{"learner_rate", "job.learner.model", "!none"},
    Rule{"job_offset", "jobs", "!1"},
    Rule{"job_h_step_packets", "jobs", "!1"},
    Rule{"job_burst_factor", "jobs", "!1"},
    Rule{"host_placement", "a [fabric]", {}, [](At a) { return a.e.in_fabric; }},
    Rule{"switch.flowlet_gap", "paths", "flowlets"},
    Rule{"switch.share_limit", "switch.scheduler", "!fifo"},
    Rule{"switch.ddl_queue.weight", "switch.scheduler", "dwrr"},
    Rule{"switch.ddl_queue.floor", "switch.scheduler", "strict_floor"},
    Rule{"switch.ddl_queue.", "switch.scheduler", "!fifo"},
    Rule{"switch.background_queue.weight", "switch.scheduler", "dwrr"},
    Rule{"switch.background_queue.floor", "switch.scheduler", "strict_floor"},
    Rule{"switch.background_queue.", "switch.scheduler", "!fifo"},
    Rule{"outside",
         "a [[switch]] with outside = true",
         {},
         [](At a) { return std::ranges::any_of(a.e.switches, &SwitchEntry::outside); }},
    Rule{"gray_loss",
         "a [[link]] with gray = true",
         {},
         [](At a) { return std::ranges::any_of(a.e.trunks, &TrunkEntry::gray); }},
    Rule{"switch.regulation.recovery",
         "a regulation: grants end with the burst, or with grant.idle",
         {},
         [](At a) { return a.acts_on_bursts(); }},
    Rule{"switch.regulation.spare_ddl",
         "a regulation that marks",
         {},
         [](At a) { return marks(a.s().mode()); }},
    Rule{"h_packets", kRegulated, {}, [](At a) { return a.s().regulates() || names_h(a); }},
    Rule{"job.announce.faults.late_by", "job.announce.faults.late", "!0"},
    Rule{"job.announce.faults.early_by", "job.announce.faults.early", "!0"},
    Rule{"job.announce.faults.copies", kCopied, {}, copies_signals},
    Rule{"job.announce.faults.copy_gap", kCopied, {}, copies_signals},
    Rule{"job.announce.faults.forged_tag", "job.announce.faults.forged_per_second", "!0"},
    Rule{"job.announce.faults.", kRegulated, {}, hears_starts},
    Rule{"background.sizes", "background.load", "!0"},
    Rule{"background.protocol",
         "long flows, a load or a list: requests and captures have a transport of their own",
         {},
         [](At a) { return has_background_flows(a.p) || a.sends_sizes(); }},
    Rule{"background.queue_pairs",
         "a load or a list over RoCEv2",
         {},
         [](At a) { return has_roce(a) && a.sends_sizes(); }},
    Rule{"background.start_spread",
         "long flows: these are what it spreads",
         {},
         [](At a) { return has_long_flows(a.p); }},
    Rule{"switch.marker.threshold_packets", "switch.marker.kind", "step"},
    Rule{"switch.marker.background_threshold_packets", "switch.marker.kind", "step"},
    Rule{"switch.marker.red.", "switch.marker.kind", "red"},
    Rule{"switch.marker.pie.", "switch.marker.kind", "pie"},
    Rule{"switch.marker.pi2.", "switch.marker.kind", "pi2"},
    Rule{"switch.marker.codel.", "switch.marker.kind", "codel"},
    Rule{"switch.regulation.window.",
         "a regulation that rewrites windows, such as \"window\"",
         {},
         [](At a) { return rewrites_windows(a.s().mode()); }},
    Rule{"switch.regulation.predict.",
         "switch.regulation.predict.from and a regulation",
         {},
         [](At a) {
           return a.acts_on_bursts() && a.s().regulation().predict.from != PredictFrom::kOff;
         }},
    Rule{"switch.regulation.pace_floor",
         "switch.regulation.mode = \"pace\" or \"mark_pace\"",
         {},
         [](At a) { return paces(a.s().mode()); }},
    Rule{
        "switch.regulation.hold",
        "a regulation with recovery = \"timer\"",
        {},
        [](At a) { return a.acts_on_bursts() && a.s().regulation().recovery == Recovery::kTimer; }},
    Rule{"switch.regulation.idle_end",
         "a regulation with recovery = \"burst_end\", or grants without grant.idle",
         {},
         [](At a) { return a.waits_for_idle_end(); }},
    Rule{"switch.regulation.grant.", "switch.regulation.grant.order", "!off"},
    Rule{"tensorlights.interval", "tensorlights.mode", "rotate"},
    Rule{"tensorlights.", "tensorlights.mode", "!off"},
    Rule{"transport.mlt.", "ddl.transport.protocol", "mlt"},
    Rule{"ddl.transport.mlt.", "ddl.transport.protocol", "mlt"},
    Rule{"requests.", "requests.connections", "!0"},
    Rule{"transport.roce.",
         "ddl.transport.protocol = \"roce\", or background over it",
         {},
         [](At a) { return a.s().ddl.protocol == tg::TransportProtocol::kRoce || has_roce(a); }},
    Rule{"ddl.transport.roce.", "ddl.transport.protocol", "roce"},
    Rule{"background.transport.roce.", "background.protocol = \"roce\" or \"both\"", {}, has_roce}};

const Rule* rule_of(std::string_view name) {
  const auto it = std::ranges::find_if(kRules, [name](const Rule& rule) {
    return rule.name.ends_with('.') ? name.starts_with(rule.name) : name == rule.name;
  });
  return it == kRules.end() ? nullptr : it;
}

/// What background may come from. All that are set flow together.
constexpr std::array<std::string_view, 5> kSources{"background.load", "background.flows_per_pair",
                                                   "background.list", "background.capture",
                                                   "requests.connections"};

/// Returns the settings with which the stacks of TCP begin.
std::vector<std::string> settings_of_stacks() {
  tg::TransportConfig rfc = tg::default_transport(), like_linux = rfc;
  tg::use_stack(rfc.tcp, tg::TcpStack::kRfc);
  tg::use_stack(like_linux.tcp, tg::TcpStack::kLinux);
  const ConfigTable basic = to_config_table(rfc);
  std::vector<std::string> names;
  for (const auto& [key, value] : to_config_table(like_linux).members)
    if (const ConfigValue* other = basic.get(key); other == nullptr || *other != value)
      names.push_back(key);
  return names;
}

bool is_of_transport(std::string_view name) { return name.find("transport.") != name.npos; }

/// Returns the settings beside which another one does not do all that it says: some flows have
/// them in its place, or they act too.
std::vector<std::string> settings_beside(const std::string& name) {
  static const std::vector<std::string> kOfStack = settings_of_stacks();
  if (name == "job.model") return {"job.compute"};
  if (name == "switch.queue.limit_packets") return {"switch.queue.limit_bytes"};
  if (name == "switch.buffer.total_bytes") return {"switch.queue.limit_packets"};
  if (std::ranges::find(kSources, name) != kSources.end())
    return {kSources.begin(), kSources.end()};
  if (!is_of_transport(name)) return {};
  std::vector<std::string> all;
  const std::string table = name.substr(0, name.find("transport.") + 10);
  for (const char* flows : {"", "ddl.", "background."}) {
    if (*flows != '\0' && table != "transport.") continue;
    if (*flows != '\0') all.push_back(flows + name);
    if (name == table + "stack")
      for (const std::string& setting : kOfStack) all.push_back(flows + table + setting);
  }
  return all;
}

constexpr const char* kParameters = "parameters";  // the place that all arms share

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

/// Returns what a row has that is judged here, without what it has by default.
NamedValues values_of(const CaseParameters& p) {
  static const ConfigTable kDefaults = written({});
  NamedValues values = with_dotted_keys(p.settings);
  for (const auto& [name, value] : written(p).members)
    if (const ConfigValue* usual = kDefaults.get(name); usual == nullptr || *usual != value)
      values.emplace_back(name, value);
  std::erase_if(values, [](const auto& one) {
    return rule_of(one.first) == nullptr && settings_beside(one.first).empty();
  });
  return values;
}

bool is_own_parameter(const ExperimentFile& e, const std::string& name) {
  return std::ranges::find(e.own_parameters, name) != e.own_parameters.end();
}

/// Returns the text of what a row has of a parameter or setting; of one that is absent, "".
std::string text_in(const CaseParameters& p, std::string_view name) {
  const ParameterValue value =
      setting_value(is_setting(name) ? to_table(p.programs()) : written(p), std::string(name));
  return std::holds_alternative<std::monostate>(value) ? "" : lab::text_of(value);
}

std::string shown(std::string_view value) {
  const bool number = !value.empty() && value.front() >= '0' && value.front() <= '9';
  return number ? std::string(value) : Checks::quoted(value);
}

/// Says where the setting that decides has its value from, if the value's own place does not.
std::string origin_of(At a, const std::string& name, const std::string& place) {
  const std::string text = text_in(a.p, name);
  const bool own = is_own_parameter(a.e, name);
  if (text != text_in(a.e.parameters, name) || (own && place == kParameters)) return {};
  if (own) return ", and that is " + shown(text) + " in [parameters]";
  const bool given = find(a.e.parameters.settings, name) != nullptr;
  return ", and that is " + shown(text) + (given ? ", inherited" : " by default");
}

/// Returns whether a setting has a value in a row. A marker may be of one of two queues alone.
bool has_value(At a, const std::string& name, std::string_view value) {
  if (text_in(a.p, name) == value) return true;
  if (name != "switch.marker.kind" || !a.s().two_queues()) return false;
  return text_in(a.p, "switch.ddl_queue.marker.kind") == value ||
         text_in(a.p, "switch.background_queue.marker.kind") == value;
}

/// Returns why a value does nothing in a row or a job of it; empty if it does something.
/// @param place  that gives it
std::string why_idle(const Rule& rule, At a, const std::string& place) {
  constexpr const char* kIdle = " has no effect: it needs ";
  if (rule.acts != nullptr) return rule.acts(a) ? "" : kIdle + std::string(rule.needs);
  const bool other = rule.value.starts_with('!');
  const std::string_view value = rule.value.substr(other ? 1 : 0);
  const std::string name(rule.needs);
  if (has_value(a, name, value) != other) return {};
  return kIdle + name + (other ? " other than " : " = ") + shown(value) + origin_of(a, name, place);
}

/// Returns what the file inherits beside a value of a row, so that the value does not hold alone;
/// empty if it does.
std::string why_beside(At a, const std::string& name, const ConfigValue& value) {
  for (const std::string& other : settings_beside(name)) {
    const ConfigValue* inherited = find(a.e.parameters.settings, other);
    if (inherited == nullptr || is_own_parameter(a.e, other)) continue;
    const ConfigValue* here = find(a.p.settings, other);
    if (here == nullptr || *here != *inherited || *here == value) continue;
    if (is_of_transport(name) || !(is_zero(value) || is_zero(*inherited)))
      return " does not hold alone: " + other + " = " + display(*inherited) +
             " is inherited and stays; give that here, too";
  }
  return {};
}

/// Returns why a value does less than it says in a row and in all of the listed jobs there.
std::string why_less(const ExperimentFile& e, const CaseParameters& p, const std::string& name,
                     const ConfigValue& value, const std::string& place) {
  if (std::string why = why_beside({e, p}, name, value); !why.empty()) return why;
  const Rule* rule = rule_of(name);
  if (rule == nullptr || is_zero(value)) return {};
  const auto acts = [&](const CaseParameters& in) {
    return why_idle(*rule, {e, in}, place).empty();
  };
  // A switch that is somebody else's has the queues of [parameters], whatever an arm says.
  if (std::ranges::any_of(e.switches, &SwitchEntry::outside) && acts(e.parameters)) return {};
  if (std::ranges::any_of(
          e.jobs, [&](const ListedJob& job) { return acts(parameters_of(job, p, e.network.rtt)); }))
    return {};
  return why_idle(*rule, {e, p}, place);
}

std::string place_of_arm(const std::string& label) { return "arm \"" + label + '"'; }

/// Returns the place of a value that is the row's alone.
std::string place_of(const PlannedRow& row) {
  return row.origin.starts_with("arm[") ? place_of_arm(row.label) : row.origin;
}

/// Returns whether the file gives a value for its own arms. What a base gives, it gives for others
/// too.
bool is_own(const ExperimentFile& e, const std::string& place, const std::string& name) {
  if (place == kParameters) return !e.for_advise && is_own_parameter(e, name);
  return std::ranges::none_of(
      e.lent_arms, [&place](const std::string& label) { return place == place_of_arm(label); });
}

}  // namespace

ConfigIssues idle_parameters(const ExperimentFile& e, std::span<const PlannedRow> rows) {
  struct Seen {
    std::string name;
    ConfigValue value;
    std::string place;  ///< that gives it
    std::string why;    ///< it does less than it says in all rows so far; empty: it does not
  };
  std::vector<Seen> seen;
  const auto look = [&seen](const std::string& name, const ConfigValue& value,
                            const std::string& place, const auto& why) {
    const auto it = std::ranges::find_if(
        seen, [&](const Seen& one) { return one.name == name && one.value == value; });
    if (it == seen.end()) seen.push_back({name, value, place, why()});
    else if (!it->why.empty() && why().empty()) it->why.clear();
  };
  const NamedValues of_file = values_of(e.parameters);
  for (const PlannedRow& row : rows) {
    for (const auto& one : values_of(row.parameters)) {
      const bool shared = std::ranges::find(of_file, one) != of_file.end();
      const std::string place = shared ? kParameters : place_of(row);
      look(one.first, one.second, place,
           [&] { return why_less(e, row.parameters, one.first, one.second, place); });
    }
    for (const ListedJob& job : e.jobs) {
      const CaseParameters p = parameters_of(job, row.parameters, e.network.rtt);
      const std::string place = join_key("", "job", job.entry);
      for (const auto& [name, value] : with_dotted_keys(job.own))
        if (const Rule* rule = rule_of(name); rule != nullptr && !is_zero(value))
          look(join_key(place, name.substr(name.find('.') + 1)), value, "", [&] {
            return why_idle(*rule, {e, p}, place);
          });
    }
  }
  ConfigIssues issues;
  for (const auto& [name, value, place, why] : seen)
    if (!why.empty() && is_own(e, place, name))
      issues.push_back({join_key(place, name), display(value) + why});
  return issues;
}

}  // namespace outrider::lab
