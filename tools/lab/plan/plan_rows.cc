#include "tools/lab/plan/plan_rows.h"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/config/checks.h"
#include "common/config/toml_text.h"
#include "tools/lab/experiment/summary_points.h"

namespace outrider::lab {
namespace {

constexpr std::uint32_t kQuickSkipped = 1;
constexpr std::uint32_t kQuickMeasured = 2;

/// Applies the point's changes to the arm. An arm without a regulation keeps its own values of what
/// has no effect on it. Of `outside` that is what our switches are told.
/// @param common  [parameters] there
PlannedRow at_point(const Arm& arm, const std::string& origin, const Point& point,
                    const CaseParameters& common, Duration rtt) {
  PlannedRow row{.label = arm.label,
                 .origin = origin,
                 .role = role_of(arm),
                 .parameters = arm.parameters,
                 .common = common,
                 .against = arm.against};
  const bool off = !arm.parameters.programs().regulates();
  for (const auto& [name, value] : point) {
    const bool told = name == "outside" && value == ConfigValue(std::string("told"));
    if (off && told) assign_parameter(row.parameters, name, ConfigValue(std::string("others")));
    else if (!off || !needs_regulation(name)) assign_parameter(row.parameters, name, value);
  }
  if (!point.empty()) settle(row.parameters, rtt);
  return row;
}

/// Returns what [parameters] are at a point. A sweep without the baseline gives its arms settings
/// of their own, as far as arms of one point may differ in them.
CaseParameters common_at(const ExperimentFile& e, const Sweep& sweep, const Point& point) {
  const auto off = std::ranges::find(e.arms, ArmRole::kBaseline, role_of);
  const bool of_all =
      off != e.arms.end() && std::ranges::find(sweep.arms, off->label) != sweep.arms.end();
  CaseParameters common = e.parameters;
  for (const auto& [name, value] : point)
    if (of_all || !tells_arms_apart(name)) assign_parameter(common, name, value);
  settle(common, e.network.rtt);
  return common;
}

/// Returns what a point makes of [parameters], whatever an arm sets.
Parameters changes_at(const ExperimentFile& e, const Point& point) {
  CaseParameters there = e.parameters;
  for (const auto& [name, value] : point) assign_parameter(there, name, value);
  settle(there, e.network.rtt);
  const Parameters before = resolved_parameters(e, e.parameters);
  const Parameters after = resolved_parameters(e, there);
  Parameters changed;
  for (const auto& [name, given] : point)
    if (const ParameterValue& value = value_in(after, name); value != value_in(before, name))
      changed.emplace_back(name, value);
  return changed;
}

/// Returns the names of the parameters that the points of two cases must share and in which they
/// differ.
std::vector<std::string> differences(const Case& a, const Case& b) {
  std::set<std::string> names;
  for (const auto& [own, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    for (const auto& [name, value] : own->point) {
      if (tells_arms_apart(name)) continue;
      const auto it = std::ranges::find(other->point, name, &Parameters::value_type::first);
      if (it == other->point.end() || it->second != value) names.insert(name);
    }
  return {names.begin(), names.end()};
}

/// Says why a case has no off case: in which parameters the nearest off case differs.
std::string why_without_off(const Case& c, const std::vector<Case>& all) {
  const Case* nearest = nullptr;
  std::vector<std::string> least;
  for (const Case& other : all) {
    if (other.role != ArmRole::kBaseline) continue;
    auto names = differences(c, other);
    if (nearest != nullptr && names.size() >= least.size()) continue;
    nearest = &other;
    least = std::move(names);
  }
  std::string text = "is compared with nothing";
  if (nearest == nullptr) return text + ": no arm is a baseline";
  text += ": the nearest baseline, \"" + nearest->label + "\", differs in ";
  for (std::size_t i = 0; i < least.size(); ++i) text += (i == 0 ? "" : ", ") + least[i];
  return text;
}

}  // namespace

const ParameterValue& value_in(const Parameters& parameters, const std::string& name) {
  static const Parameters kDefaults = to_all_parameters({});
  const auto it = std::ranges::find(parameters, name, &Parameters::value_type::first);
  return it != parameters.end()
             ? it->second
             : std::ranges::find(kDefaults, name, &Parameters::value_type::first)->second;
}

std::string value_text(const ParameterValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) return v;
        else if constexpr (std::is_same_v<T, std::monostate>) return "absent";
        else return to_toml_text(ConfigValue(v));
      },
      value);
}

std::vector<PlannedRow> rows_of(const ExperimentFile& e) {
  std::vector<PlannedRow> rows;
  std::vector<Parameters> values;  // of each
  const auto add = [&](PlannedRow row) {
    Parameters own = resolved_parameters(e, row.parameters);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].label == row.label && values[i] == own) return;
    rows.push_back(std::move(row));
    values.push_back(std::move(own));
  };
  for (std::size_t a = 0; a < e.arms.size(); ++a)
    add(at_point(e.arms[a], join_key("", "arm", a), {}, e.parameters, e.network.rtt));
  for (const auto& sweep : e.sweeps)
    for (const auto& point : sweep.points) {
      const Parameters changed = changes_at(e, point);
      const CaseParameters common = common_at(e, sweep, point);
      for (const auto& arm : e.arms) {
        if (std::ranges::find(sweep.arms, arm.label) == sweep.arms.end()) continue;
        PlannedRow row = at_point(arm, sweep.key, point, common, e.network.rtt);
        row.point = changed;
        add(std::move(row));
      }
    }
  return rows;
}

std::vector<PlannedRow> quick_rows(ExperimentFile e) {
  e.sweeps.clear();
  std::vector<PlannedRow> rows = rows_of(e);
  for (auto& row : rows) {
    CaseParameters& p = row.parameters;
    p.skip_iterations = std::min(p.skip_iterations, kQuickSkipped);
    const std::uint32_t iterations =
        std::min(p.programs().job.iterations, p.skip_iterations + kQuickMeasured);
    (void)assign(p.settings, "job.iterations", ConfigValue(std::int64_t{iterations}));
    settle(p, e.network.rtt);
  }
  return rows;
}

void refuse_equal_rows(const ExperimentFile& e, const std::vector<PlannedRow>& rows,
                       ConfigIssues& issues) {
  std::set<std::string> names;
  for (const auto& row : rows) {
    const auto key = parameters_key(row.point, std::not_fn(tells_arms_apart)) +
                     parameters_key(resolved_parameters(e, row.parameters), tells_arms_apart);
    if (!names.insert(row.label + '\n' + key).second)
      issues.push_back(
          {row.origin, "arm \"" + row.label +
                           "\" would be twice at one point: the sweep gives it a value of "
                           "[parameters] that its own settings replace; leave out that value, or "
                           "name the other arms in arms"});
  }
}

void require_baselines(const ExperimentFile& e, std::vector<PlannedRow>& rows,
                       ConfigIssues& issues) {
  std::vector<Case> cases;
  for (const auto& row : rows) {
    Case& c = cases.emplace_back();
    c.label = row.label;
    c.role = row.role;
    c.parameters = resolved_parameters(e, row.parameters);
    c.point = row.point;
    c.against = row.against;
  }
  std::vector<const Case*> pointers;
  pointers.reserve(cases.size());
  for (const Case& c : cases) pointers.push_back(&c);
  const CasePoints points = points_of(pointers);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool without_off = points.off[i] == cases.size();
    if (!without_off && points.baseline[i] != cases.size()) {
      rows[i].against = rows[points.baseline[i]].label;
      rows[i].off = rows[points.off[i]].label;
      continue;
    }
    issues.push_back({rows[i].origin, "arm \"" + cases[i].label + "\": " +
                                          (without_off ? why_without_off(cases[i], cases)
                                                       : "is compared with \"" + rows[i].against +
                                                             "\", which is not at this point")});
  }
}

std::set<std::string> wanted_arms(const PlanOptions& options, const std::vector<PlannedRow>& rows) {
  std::set<std::string> wanted;
  const auto asked_for = [&options](const std::string& label) {
    return options.arms.empty() || std::ranges::find(options.arms, label) != options.arms.end();
  };
  for (const auto& row : rows)
    if (asked_for(row.label)) wanted.insert({row.label, row.against, row.off});
  return wanted;
}

}  // namespace outrider::lab
