#include "tools/lab/plan/case_faults.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "common/config/config_value.h"
#include "tools/lab/experiment/program_settings.h"

namespace outrider::lab {
namespace {

/// Returns "switch.port.queue" for both "switch[0].port[3].queue" and "switch[1].port[0].queue".
std::string without_indices(const std::string& key) {
  std::string text;
  bool inside = false;
  for (const char c : key) {
    inside |= c == '[';
    if (!inside) text += c;
    inside &= c != ']';
  }
  return text;
}

/// A key of one of a port's two queues, each of which has a role.
struct RoleKey {
  std::string role;   ///< "switch.ddl_queue"
  std::string inner;  ///< "marker.threshold_packets"

  [[nodiscard]] bool is_of_queue() const {
    return !inner.starts_with("marker.") && !inner.starts_with("regulation.");
  }
  /// The key that the settings of all ports have.
  [[nodiscard]] std::string common() const {
    return (is_of_queue() ? "switch.queue." : "switch.") + inner;
  }
  /// The same, as a port in a generated configuration has it.
  [[nodiscard]] std::string of_port() const {
    return (is_of_queue() ? "switch: switch.port.queue." : "switch: switch.port.") + inner;
  }
};

/// Returns the key of a role, for "switch: switch[0].port[3].queues[1].limit_bytes"; nothing if it
/// is of no role.
std::optional<RoleKey> role_key_of(const std::string& generated) {
  constexpr std::string_view kQueues = ".queues[", kRoles[]{"ddl_queue", "background_queue"};
  const std::size_t at = generated.find(kQueues);
  if (!generated.starts_with("switch: ") || at == generated.npos) return std::nullopt;
  const std::size_t number = at + kQueues.size();
  const auto queue = static_cast<std::size_t>(generated[number] - '0');
  if (generated.compare(number + 1, 2, "].") != 0 || queue >= std::size(kRoles))
    return std::nullopt;
  return RoleKey{.role = join_key("switch", kRoles[queue]), .inner = generated.substr(number + 3)};
}

/// Says whether a role's queue has other limits, thresholds or rules than the port's settings say.
bool is_other_queue(const ConfigTable& settings, const std::string& role) {
  const ConfigValue* value = find(settings, role);
  const auto* own = value == nullptr ? nullptr : value->as<ConfigTable>();
  return own != nullptr && std::ranges::any_of(own->members, [](const ConfigMember& m) {
           return m.key != "weight" && m.key != "floor" && m.key != "floor_rate";
         });
}

/// Returns the key by which the experiment says a setting of a role's queue: the role's own, or
/// that of all ports if these have the fault too, or if the queue is as they are.
std::string key_of_role(const RoleKey& key, const ConfigTable& settings,
                        const ConfigIssues& found) {
  std::string own = join_key(key.role, key.inner);
  if (key.inner == "weight" || find(settings, own) != nullptr) return own;
  if (key.inner == "floor_rate") return join_key(key.role, "floor");
  const bool in_all = std::ranges::any_of(
      found, [&](const ConfigIssue& other) { return without_indices(other.key) == key.of_port(); });
  return in_all || !is_other_queue(settings, key.role) ? key.common() : own;
}

/// Returns the key that an experiment has for one of a generated configuration:
/// "switch.queue.limit_bytes" for "switch: switch[0].port[3].queue.limit_bytes". What follows from
/// the topology keeps the generated key.
/// @param found  all faults of that configuration
std::string key_of_experiment(const std::string& generated, const CaseParameters& own,
                              const ConfigIssues& found) {
  if (const auto role = role_key_of(generated)) return key_of_role(*role, own.settings, found);
  struct Rule {
    std::string_view generated, experiment;
  };
  constexpr Rule kRules[]{
      {"switch: switch.port.queues.marker.", "switch.marker."},
      {"switch: switch.port.queues.regulation.", "switch.regulation."},
      {"switch: switch.port.queues.", "switch.queue."},
      {"switch: switch.port.queue.", "switch.queue."},
      {"switch: switch.port.marker.", "switch.marker."},
      {"switch: switch.port.regulation.", "switch.regulation."},
      {"switch: switch.signals.", "switch.signals."},
      {"trafficgen: transport.", "transport."},
      {"trafficgen: job.announce.threshold_packets", "h_packets"},
      {"trafficgen: job.first_due", "warm_up_seconds"},
      {"trafficgen: job.", "job."},
      {"trafficgen: flows.distribution", "background.sizes"},
      {"trafficgen: flows.list", "background.list"},
      {"trafficgen: flows.queue_pairs", "background.queue_pairs"},
      {"trafficgen: long_flows.flows_per_pair", "background.flows_per_pair"},
      {"trafficgen: long_flows.start_spread", "background.start_spread"},
      {"trafficgen: capture.file", "background.capture"},
      {"trafficgen: requests.", "requests."},
      {"trafficgen: send_jitter", "trafficgen.send_jitter"},
      {"trafficgen: attribution", "trafficgen.attribution"},
      {"trafficgen: connection_sample_period", "trafficgen.connection_sample_period"}};
  const std::string key = without_indices(generated);
  for (const auto& [from, to] : kRules) {
    if (!key.starts_with(from)) continue;
    std::string setting = std::string(to) + key.substr(from.size());
    const std::string_view parameter = parameter_of(setting);
    return parameter.empty() ? setting : std::string(parameter);
  }
  return key;
}

/// Says a rule of the switch in the words of an experiment, whose signal_form stands for the
/// switch's accept_tos.
ConfigIssue in_words_of_experiment(const ConfigIssue& issue) {
  if (!issue.key.ends_with("signals.accept_from") ||
      issue.problem.find("accept_tos") == std::string::npos)
    return issue;
  return {"trafficgen: job.announce.signal_form",
          "\"tos\": needs switch.signals.accept_from, because any DSCP from 32 up reads as START; "
          "\"udp\" needs none"};
}

/// Returns whether both have the same value of a setting, as it is written, or of a parameter.
bool same_value(const CaseParameters& a, const CaseParameters& b, const std::string& key) {
  if (is_setting(key)) {
    const ConfigValue* x = find(a.settings, key);
    const ConfigValue* y = find(b.settings, key);
    return x == nullptr || y == nullptr ? x == y : *x == *y;
  }
  const Parameters of_a = to_all_parameters(a), of_b = to_all_parameters(b);
  const auto x = std::ranges::find(of_a, key, &Parameters::value_type::first);
  const auto y = std::ranges::find(of_b, key, &Parameters::value_type::first);
  return x == of_a.end() || y == of_b.end() || x->second == y->second;
}

/// Returns the key by which the experiment says it: that of all transports, of the bursts' or of
/// the background's.
std::string key_as_written(const CaseParameters& own, std::string key) {
  if (!key.starts_with("transport.") || find(own.settings, key) != nullptr) return key;
  for (const char* flows : {"ddl.", "background."})
    if (find(own.settings, flows + key) != nullptr) return flows + key;
  return key;
}

/// Returns "workers = 4, background.load = 0.5".
std::string point_text(const Parameters& point) {
  std::string text;
  for (const auto& [key, value] : point)
    text += (text.empty() ? "" : ", ") + key + " = " + value_text(value);
  return text;
}

bool is_of_file(const std::string& key) {
  constexpr std::string_view kTables[]{"network.", "fabric", "hosts[", "job["};
  return key == "link" || key == "switch" || key.find("background[") != std::string::npos ||
         key.find("].background.") != std::string::npos ||
         std::ranges::any_of(kTables, [&key](auto table) { return key.starts_with(table); });
}

}  // namespace

void CaseFaults::add(const PlannedRow& row, const ConfigIssues& found) {
  if (rows_.empty() || rows_.back() != &row) rows_.push_back(&row);
  unkept_.count_unkept(found);
  for (const auto& one : found) {
    const ConfigIssue issue = in_words_of_experiment(one);
    const bool of_file = is_of_file(issue.key);
    const std::string key =
        of_file
            ? issue.key
            : key_as_written(row.parameters, key_of_experiment(issue.key, row.parameters, found));
    auto known = std::ranges::find_if(
        faults_, [&](const Fault& f) { return f.key == key && f.problem == issue.problem; });
    if (known == faults_.end())
      known = faults_.insert(known, {.key = key, .problem = issue.problem, .of_file = of_file});
    if (known->rows.empty() || known->rows.back() != &row) known->rows.push_back(&row);
  }
}

/// Says whether `[parameters]`, or a default, is at fault: then the arms have nothing to mend.
bool CaseFaults::is_shared(const Fault& fault) const {
  const auto has_own = [&](const PlannedRow* row) {
    return !same_value(row->parameters, base_, fault.key);
  };
  if (std::ranges::any_of(fault.rows, has_own)) return false;
  return fault.rows.size() == rows_.size() ||
         (is_setting(fault.key) && find(base_.settings, fault.key) != nullptr);
}

/// Names the first of some rows: its arm if other arms at these points are without the fault, its
/// point if the arm is without it at others. Empty: all rows have it.
std::string CaseFaults::where(const Rows& some) const {
  const auto has = [&some](const PlannedRow* row) {
    return std::ranges::find(some, row) != some.end();
  };
  const PlannedRow& first = *some.front();
  bool all_arms = true, all_points = true;
  for (const PlannedRow* row : rows_) {
    if (has(row)) continue;
    all_points &= row->label != first.label;
    all_arms &= row->point != first.point;
  }
  std::string text =
      all_arms && (!all_points || some.size() == rows_.size()) ? "" : "arm \"" + first.label + '"';
  if (all_points || first.point.empty()) return text;
  std::vector<Parameters> points;
  for (const PlannedRow* row : some)
    if (std::ranges::find(points, row->point) == points.end()) points.push_back(row->point);
  text += (text.empty() ? "at " : " at ") + point_text(first.point);
  const std::string others = std::to_string(points.size() - 1);
  return points.size() == 1 ? text : text + " and at " + others + " more of the points";
}

/// Tells a fault at each place where it can be mended: arms first, then sweeps, which give arms
/// values that do not fit.
void CaseFaults::tell_each(const Fault& fault, ConfigIssues& issues) const {
  Rows of_arms = fault.rows;
  std::erase_if(of_arms, [](const PlannedRow* row) { return !row->point.empty(); });
  for (const PlannedRow* row : of_arms)
    issues.push_back(
        {row->origin, "arm \"" + row->label + "\": " + fault.key + ": " + fault.problem});
  Rows rest = fault.rows;
  std::erase_if(rest, [&of_arms](const PlannedRow* row) {
    return std::ranges::find(of_arms, row->label, &PlannedRow::label) != of_arms.end();
  });
  while (!rest.empty()) {
    const std::string origin = rest.front()->origin;
    Rows of_sweep = rest;
    std::erase_if(of_sweep, [&](const PlannedRow* row) { return row->origin != origin; });
    issues.push_back({origin, where(of_sweep) + ": " + fault.key + ": " + fault.problem});
    std::erase_if(rest, [&](const PlannedRow* row) { return row->origin == origin; });
  }
}

ConfigIssues CaseFaults::told() const {
  ConfigIssues issues = unkept_;
  for (const auto& fault : faults_) {
    const bool generated = fault.key.find(": ") != fault.key.npos;
    if (fault.of_file) {
      issues.push_back({fault.key, fault.problem});
    } else if (!generated && is_shared(fault)) {
      const std::string at = where(fault.rows);
      const char* joint = at.empty() ? "" : at.starts_with("arm") ? ", in " : ", ";
      issues.push_back({join_key("parameters", fault.key), fault.problem + joint + at});
    } else {
      tell_each(fault, issues);
    }
  }
  return issues;
}

}  // namespace outrider::lab
