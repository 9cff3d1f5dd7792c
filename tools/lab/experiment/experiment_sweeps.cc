#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "tools/lab/experiment/background_sweeps.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/replaced_parameters.h"
#include "tools/lab/experiment/summary_points.h"

namespace outrider::lab {
namespace {

/// Points of all [[sweep]] together: a few short lists would otherwise fill any memory.
constexpr std::size_t kMaxPoints = 100'000;

/// Reads the sweeps. Their keys are names of parameters, which no binding can have.
class SweepReader {
 public:
  /// @param file  with the arms as they are written
  SweepReader(const ConfigTable& file, ExperimentFile& experiment, ConfigIssues& issues)
      : experiment_(experiment), issues_(issues) {
    const ConfigValue* arms = file.get("arm");
    if (arms == nullptr || !is_array_of_tables(*arms)) return;
    for (const ConfigValue& arm : *arms->as<ConfigValue::Array>())
      written_arms_.push_back(with_nested_keys(*arm.as<ConfigTable>()));
  }

  /// Reads [[sweep]] x = [...], y = [...], which gives one point per combination.
  void sweep(const ConfigTable& table, const std::string& key) {
    Sweep sweep{key, read_arms(table, key), {{}}};
    bool any = false;
    for (const auto& [name, value] : with_dotted_keys(table)) {
      if (name == "arms") continue;
      any = true;
      const auto* values = value.as<ConfigValue::Array>();
      if (values != nullptr && std::ranges::any_of(*values, is_table)) {
        issues_.push_back({join_key(key, name), "has a table: name each key of it in the sweep"});
        continue;
      }
      if (values == nullptr || values->empty()) {
        issues_.push_back({join_key(key, name), display(value) + ": must be an array of values"});
        continue;
      }
      if (crossed_ + sweep.points.size() * values->size() > kMaxPoints) {
        fault(join_key(key, name), "makes too many points: all [[sweep]] may have " +
                                       std::to_string(kMaxPoints) + " together");
        continue;
      }
      told_.clear();
      std::vector<Point> extended;
      for (const auto& point : sweep.points) {
        for (std::size_t i = 0; i < values->size(); ++i) {
          extended.push_back(point);
          extended.back().emplace_back(name, (*values)[i]);
        }
      }
      for (std::size_t i = 0; i < values->size(); ++i)
        if (!check_value(name, (*values)[i], join_key(key, name, i), join_key(key, name))) break;
      check_own_values(name, sweep.arms, table.get("arms") != nullptr, join_key(key, name));
      sweep.points = std::move(extended);
    }
    if (!any) issues_.push_back({key, "must name at least one parameter with its values"});
    crossed_ += sweep.points.size();
    experiment_.sweeps.push_back(std::move(sweep));
  }

  void fault(std::string key, std::string problem) {
    issues_.push_back({std::move(key), std::move(problem)});
  }

 private:
  /// Tells a fault of one of several values, unless another value has told its rule.
  void fault_of_value(const std::string& value_key, const std::string& problem) {
    const std::size_t at = problem.find(": ");
    if (told_.insert(at == problem.npos ? problem : problem.substr(at)).second)
      fault(value_key, problem);
  }

  static bool is_table(const ConfigValue& value) { return value.as<ConfigTable>() != nullptr; }

  std::vector<std::string> read_arms(const ConfigTable& table, const std::string& key) {
    std::vector<std::string> arms;
    std::vector<std::string_view> known;
    known.reserve(experiment_.arms.size());
    for (const auto& arm : experiment_.arms) known.emplace_back(arm.label);
    const ConfigValue* given = table.get("arms");
    if (given == nullptr) return {known.begin(), known.end()};
    const auto* array = given->as<ConfigValue::Array>();
    if (array == nullptr || array->empty()) {
      fault(join_key(key, "arms"), display(*given) + ": must be a non-empty array of labels");
      return arms;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
      const auto* label = (*array)[i].as<std::string>();
      if (label != nullptr && std::ranges::find(known, *label) != known.end())
        arms.push_back(*label);
      else
        fault(join_key(key, "arms", i), display((*array)[i]) + ": no [[arm]] has this label" +
                                            suggestion(label != nullptr ? *label : "", known));
    }
    return arms;
  }

  /// @return whether a parameter has this name, so that its other values can be checked too
  bool check_value(const std::string& name, const ConfigValue& value, const std::string& value_key,
                   const std::string& name_key) {
    if (const auto key = group_key_of(name); key && !experiment_.parameters.groups.empty())
      return check_group_key(*key, value, value_key, name_key);
    if (is_setting(name)) return check_setting(name, value, value_key, name_key);
    std::string unknown = replaced_parameter(name);
    unknown = unknown.empty() ? unknown_parameter(name) : Checks::quoted(name) + ": " + unknown;
    if (!unknown.empty()) {
      fault(name_key, unknown);
      return false;
    }
    CaseParameters scratch = experiment_.parameters;
    std::string problem = assign_parameter(scratch, name, value);
    settle(scratch, experiment_.network.rtt);
    for (const auto& issue : validate(scratch))
      if (problem.empty() && issue.key == name) problem = issue.problem;
    if (!problem.empty()) fault_of_value(value_key, problem);
    return true;
  }

  bool check_group_key(const GroupKey& key, const ConfigValue& value, const std::string& value_key,
                       const std::string& name_key) {
    const ConfigIssues issues = faults_of_value(experiment_, key, value);
    const auto of_name = [](const ConfigIssue& i) { return i.problem.starts_with("unknown"); };
    for (const auto& issue : issues)
      if (of_name(issue)) fault(name_key, issue.key + ": " + issue.problem);
      else if (issue.key.ends_with('.' + key.key)) fault_of_value(value_key, issue.problem);
      else fault_of_value(value_key, issue.key + ": " + issue.problem);
    return std::ranges::none_of(issues, of_name);
  }

  bool check_setting(const std::string& name, const ConfigValue& value,
                     const std::string& value_key, const std::string& name_key) {
    const auto root = name.substr(0, name.find('.'));
    if (std::ranges::find(kSettingRoots, root) == std::end(kSettingRoots)) {
      fault(name_key, Checks::quoted(name) + ": there are no such settings" +
                          suggestion(root, kSettingRoots));
      return false;
    }
    if (name == "switch.regulation.mode") {  // a sweep would make remedies of baselines
      fault(name_key, Checks::quoted(name) + ": belongs to the arms");
      return false;
    }
    CaseParameters scratch;
    ConfigIssues issues;
    if (const std::string problem = assign_parameter(scratch, name, value); !problem.empty())
      fault_of_value(value_key, problem);
    check_settings(scratch.settings, "", {.rtt = experiment_.network.rtt}, issues);
    const auto of_name = [](const ConfigIssue& i) {
      return i.problem.starts_with("unknown key") || i.problem.starts_with("follows from ");
    };
    for (const auto& issue : issues)
      if (of_name(issue)) fault(name_key, Checks::quoted(issue.key) + ": " + issue.problem);
      else fault_of_value(value_key, issue.problem);
    return std::ranges::none_of(issues, of_name);
  }

  /// Returns what an arm has of its own that a sweep of `name` would replace.
  std::optional<std::string> own_value(const Arm& arm, const std::string& name) const {
    if (arm.own_background && group_key_of(name)) {
      const ParameterValue value = value_of_name(arm.parameters.groups, {}, name);
      if (value == value_of_name(experiment_.parameters.groups, {}, name)) return std::nullopt;
      return text_of(value);
    }
    const auto at = static_cast<std::size_t>(&arm - experiment_.arms.data());
    const bool ignores =
        needs_regulation(name) && !arm.parameters.programs().regulates();  // see at_point()
    const ConfigValue* value =
        at < written_arms_.size() && !ignores ? find(written_arms_[at], name) : nullptr;
    return value == nullptr ? std::nullopt : std::optional(display(*value));
  }

  /// Refuses a sweep that would take from an arm what it gives itself: its remedy. A sweep that
  /// names an arm of the file may vary what arms of one point may differ in.
  void check_own_values(const std::string& name, const std::vector<std::string>& arms, bool named,
                        const std::string& name_key) {
    const bool varies = tells_arms_apart(name);
    std::string own, others;
    const auto add = [](std::string& to, const std::string& text) {
      to += (to.empty() ? "" : ", ") + text;
    };
    for (const Arm& arm : experiment_.arms) {
      if (std::ranges::find(arms, arm.label) == arms.end()) continue;
      const bool lent = std::ranges::count(experiment_.lent_arms, arm.label) != 0;
      const auto value = varies && named && !lent ? std::nullopt : own_value(arm, name);
      add(value ? own : others,
          Checks::quoted(arm.label) + (value ? " (" + *value + ")" : std::string{}));
    }
    if (own.empty()) return;
    std::string what_to_do = "sweep the others alone, arms = [" + others + "]";
    if (others.empty()) what_to_do = "leave it out of the sweep";
    if (varies) what_to_do += ", or name in arms each arm of this file that it is to vary";
    fault(name_key, "would replace what arms give themselves: " + own + "; " + what_to_do);
  }

  static std::string unknown_parameter(const std::string& name) {
    const Parameters all = to_all_parameters(CaseParameters{});
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const auto& [known, value] : all) names.emplace_back(known);
    if (std::ranges::find(names, name) != names.end()) return {};
    return "\"" + name + "\": there is no such parameter" + suggestion(name, names);
  }

  ExperimentFile& experiment_;
  ConfigIssues& issues_;
  std::vector<ConfigTable> written_arms_;  ///< with nested keys
  std::set<std::string> told_;             ///< rules that values of one key have broken
  std::size_t crossed_ = 0;                ///< points of the [[sweep]] so far
};

}  // namespace

void read_sweeps(const ConfigTable& file, ExperimentFile& experiment, ConfigIssues& issues) {
  SweepReader reader(file, experiment, issues);
  for_each_table(file, "sweep", [&reader](const ConfigTable& table, std::size_t i) {
    reader.sweep(with_nested_keys(table), join_key("", "sweep", i));
  });
  if (const auto* list = file.get("sweep"); list != nullptr && !is_array_of_tables(*list))
    reader.fault("sweep", display(*list) + ": must be an array of tables: [[sweep]]");
  settle_swept_groups(experiment, issues);
}

}  // namespace outrider::lab
