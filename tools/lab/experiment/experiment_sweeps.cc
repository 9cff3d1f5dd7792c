#include <algorithm>
#include <optional>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "tools/lab/experiment/background_sweeps.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/replaced_parameters.h"

namespace outrider::lab {
namespace {

/// Points of all [[sweep]] together: a few short lists would otherwise fill any memory.
constexpr std::size_t kMaxPoints = 100'000;

/// Reads the sweeps. Their keys are names of parameters, which no binding can have.
class SweepReader {
 public:
  SweepReader(ExperimentFile& experiment, ConfigIssues& issues)
      : experiment_(experiment), issues_(issues) {}

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
      std::vector<Point> extended;
      for (const auto& point : sweep.points) {
        for (std::size_t i = 0; i < values->size(); ++i) {
          extended.push_back(point);
          extended.back().emplace_back(name, (*values)[i]);
        }
      }
      for (std::size_t i = 0; i < values->size(); ++i)
        if (!check_value(name, (*values)[i], join_key(key, name, i), join_key(key, name))) break;
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
    if (!problem.empty()) fault(value_key, problem);
    return true;
  }

  bool check_group_key(const GroupKey& key, const ConfigValue& value, const std::string& value_key,
                       const std::string& name_key) {
    const ConfigIssues issues = faults_of_value(experiment_, key, value);
    const auto of_name = [](const ConfigIssue& i) { return i.problem.starts_with("unknown"); };
    for (const auto& issue : issues)
      if (of_name(issue)) fault(name_key, issue.key + ": " + issue.problem);
      else if (issue.key.ends_with('.' + key.key)) fault(value_key, issue.problem);
      else fault(value_key, issue.key + ": " + issue.problem);
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
      fault(value_key, problem);
    check_settings(scratch.settings, "", {.rtt = experiment_.network.rtt}, issues);
    const auto of_name = [](const ConfigIssue& i) {
      return i.problem.starts_with("unknown key") || i.problem.starts_with("follows from ");
    };
    for (const auto& issue : issues)
      if (of_name(issue)) fault(name_key, Checks::quoted(issue.key) + ": " + issue.problem);
      else fault(value_key, issue.problem);
    return std::ranges::none_of(issues, of_name);
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
  std::size_t crossed_ = 0;  ///< points of the [[sweep]] so far
};

}  // namespace

void read_sweeps(const ConfigTable& file, ExperimentFile& experiment, ConfigIssues& issues) {
  SweepReader reader(experiment, issues);
  if (const auto* list = file.get("sweep"); list != nullptr && is_array_of_tables(*list)) {
    const auto& tables = *list->as<ConfigValue::Array>();
    for (std::size_t i = 0; i < tables.size(); ++i)
      reader.sweep(with_nested_keys(*tables[i].as<ConfigTable>()), join_key("", "sweep", i));
  } else if (list != nullptr) {
    reader.fault("sweep", display(*list) + ": must be an array of tables: [[sweep]]");
  }
  settle_swept_groups(experiment, issues);
}

}  // namespace outrider::lab
