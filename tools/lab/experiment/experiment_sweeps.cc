#include <algorithm>
#include <optional>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "tools/lab/experiment/background_sweeps.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/renamed_parameters.h"

namespace outrider::lab {
namespace {

/// Points of all [[cross]] together: a few short lists would otherwise fill any memory.
constexpr std::size_t kMaxPoints = 100'000;

/// Reads the sweeps. Their keys are names of parameters, which no binding can have.
class SweepReader {
 public:
  SweepReader(ExperimentFile& experiment, ConfigIssues& issues)
      : experiment_(experiment), issues_(issues) {}

  /// Reads [[vary]] parameter = "x", values = [...], which gives one point per value.
  void vary(const ConfigTable& table, const std::string& key) {
    Sweep sweep{key, read_arms(table, key), {}};
    const auto* name = string_of(table, key, "parameter");
    const auto* values = array_of(table, key, "values");
    refuse_others(table, key, {"parameter", "values", "arms"});
    if (name == nullptr || values == nullptr) return;
    for (std::size_t i = 0; i < values->size(); ++i) {
      if (!check_value(*name, (*values)[i], join_key(key, "values", i), join_key(key, "parameter")))
        return;
      sweep.points.push_back({{*name, (*values)[i]}});
    }
    experiment_.sweeps.push_back(std::move(sweep));
  }

  /// Reads [[cross]] x = [...], y = [...], which gives one point per combination.
  void cross(const ConfigTable& table, const std::string& key) {
    Sweep sweep{key, read_arms(table, key), {{}}};
    bool any = false;
    for (const auto& [name, value] : with_dotted_keys(table)) {
      if (name == "arms") continue;
      any = true;
      const auto* values = value.as<ConfigValue::Array>();
      if (values == nullptr || values->empty()) {
        issues_.push_back({join_key(key, name), display(value) + ": must be an array of values"});
        continue;
      }
      if (crossed_ + sweep.points.size() * values->size() > kMaxPoints) {
        fault(join_key(key, name), "makes too many points: all [[cross]] may have " +
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
  const ConfigValue* required(const ConfigTable& table, const std::string& key,
                              std::string_view name) {
    const auto* v = table.get(name);
    if (v == nullptr) fault(join_key(key, name), "is required");
    return v;
  }

  const std::string* string_of(const ConfigTable& table, const std::string& key,
                               std::string_view name) {
    const auto* v = required(table, key, name);
    if (v == nullptr) return nullptr;
    const auto* s = v->as<std::string>();
    if (s == nullptr) fault(join_key(key, name), display(*v) + ": must be a string");
    return s;
  }

  const ConfigValue::Array* array_of(const ConfigTable& table, const std::string& key,
                                     std::string_view name) {
    const auto* v = required(table, key, name);
    if (v == nullptr) return nullptr;
    const auto* a = v->as<ConfigValue::Array>();
    if (a != nullptr && !a->empty()) return a;
    fault(join_key(key, name), display(*v) + ": must be a non-empty array");
    return nullptr;
  }

  std::vector<std::string> read_arms(const ConfigTable& table, const std::string& key) {
    std::vector<std::string> arms;
    std::vector<std::string_view> known;
    known.reserve(experiment_.arms.size());
    for (const auto& arm : experiment_.arms) known.emplace_back(arm.label);
    const auto* array = array_of(table, key, "arms");
    if (array == nullptr) return arms;
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

  void refuse_others(const ConfigTable& table, const std::string& key,
                     const std::vector<std::string_view>& known) {
    for (const auto& member : table.members)
      if (std::ranges::find(known, member.key) == known.end())
        fault(join_key(key, member.key), "unknown key" + suggestion(member.key, known));
  }

  /// @return whether a parameter has this name, so that its other values can be checked too
  bool check_value(const std::string& name, const ConfigValue& value, const std::string& value_key,
                   const std::string& name_key) {
    if (const auto key = group_key_of(name); key && !experiment_.parameters.groups.empty())
      return check_group_key(*key, value, value_key, name_key);
    if (is_setting(name)) return check_setting(name, value, value_key, name_key);
    std::string unknown = renamed_parameter(name);
    unknown = unknown.empty() ? unknown_parameter(name) : Checks::quoted(name) + ": " + unknown;
    if (!unknown.empty()) {
      fault(name_key, unknown);
      return false;
    }
    if (name == "regulation") {  // it distinguishes off from on: labels would be wrong
      fault(name_key, "\"regulation\": belongs to the arms");
      return false;
    }
    CaseParameters scratch = experiment_.parameters;
    std::string problem = assign_parameter(scratch, name, value);
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
    CaseParameters scratch;
    ConfigIssues issues;
    if (const std::string problem = assign_parameter(scratch, name, value); !problem.empty())
      fault(value_key, problem);
    check_settings(scratch.settings, "", experiment_.network.rtt, issues);
    const auto of_name = [](const ConfigIssue& i) {
      return i.problem.starts_with("unknown key") || i.problem.starts_with("is ");
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
  std::size_t crossed_ = 0;  ///< points of the [[cross]] so far
};

}  // namespace

void read_sweeps(const ConfigTable& file, ExperimentFile& experiment, ConfigIssues& issues) {
  SweepReader reader(experiment, issues);
  for (const std::string_view kind : {"vary", "cross"}) {
    const auto* list = file.get(kind);
    if (list == nullptr) continue;
    if (!is_array_of_tables(*list)) {
      reader.fault(std::string(kind),
                   display(*list) + ": must be an array of tables: [[" + std::string(kind) + "]]");
      continue;
    }
    const auto& tables = *list->as<ConfigValue::Array>();
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const auto& table = *tables[i].as<ConfigTable>();
      const std::string key = join_key("", kind, i);
      kind == "vary" ? reader.vary(table, key) : reader.cross(table, key);
    }
  }
  settle_swept_groups(experiment, issues);
}

}  // namespace outrider::lab
