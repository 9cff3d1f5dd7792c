#include "tools/lab/summary/results.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <set>
#include <variant>

#include "tools/lab/experiment/experiment_parameters.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/summary/metric.h"

namespace outrider::lab {

namespace {

using ParameterFilter = std::function<bool(std::string_view)>;

bool is_equal(const ArmSummary& arm, std::string_view name, const ParameterValue& value) {
  const ParameterValue* own = parameter_of(arm, name);
  return own != nullptr && text_of(*own) == text_of(value);
}

/// Returns the parameters for which `keep` is true that differ between arms, in their order.
std::vector<std::string> varying_of(const std::vector<const ArmSummary*>& arms,
                                    const ParameterFilter& keep) {
  std::vector<std::string> names;
  if (arms.empty()) return names;
  for (const auto& [name, first] : arms[0]->parameters)
    if (keep(name) && std::ranges::any_of(arms, [&key = name, &v = first](const ArmSummary* a) {
          return !is_equal(*a, key, v);
        }))
      names.push_back(name);
  return names;
}

/// Returns the values of some parameters, "tcp=reno, workers=2".
std::string setting_values(const ArmSummary& arm, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    const ParameterValue* value = parameter_of(arm, name);
    text += (text.empty() ? "" : ", ") + name + "=" + (value == nullptr ? "" : text_of(*value));
  }
  return text;
}

ArmMetric found(const std::vector<ArmMetric>& metrics, std::string_view name) {
  const std::string_view known = shown_figure(name).name;
  const auto it = std::ranges::find(metrics, known, &ArmMetric::name);
  return it == metrics.end() ? ArmMetric{.name = std::string(name), .value = {}, .change = {}}
                             : *it;
}

}  // namespace

bool has_job(const std::vector<ArmSummary>& arms) {
  const auto of_background_alone = [](const ArmSummary& arm) {
    const auto rows = metrics();
    return !arm.metrics.empty() && std::ranges::all_of(arm.metrics, [&rows](const ArmMetric& m) {
      const auto row = std::ranges::find(rows, m.name, &Metric::name);
      return row != rows.end() && row->without_job;
    });
  };
  return arms.empty() || !std::ranges::all_of(arms, of_background_alone);
}

ArmMetric ArmSummary::metric(std::string_view of) const { return found(metrics, of); }

ArmMetric ArmSummary::metric_against_off(std::string_view of) const {
  const std::string_view known = shown_figure(of).name;
  const bool other = std::ranges::find(against_off, known, &ArmMetric::name) != against_off.end();
  return found(other ? against_off : metrics, of);
}

const ParameterValue* parameter_of(const ArmSummary& arm, std::string_view name) {
  const auto it = std::ranges::find(arm.parameters, name, &Parameters::value_type::first);
  return it == arm.parameters.end() ? nullptr : &it->second;
}

bool has_value(const ArmSummary& arm, std::string_view name, std::string_view text) {
  const ParameterValue* value = parameter_of(arm, name);
  if (value == nullptr) return false;
  const std::string own = text_of(*value);
  if (own == text || (std::holds_alternative<std::monostate>(*value) && text == "null"))
    return true;
  double asked = 0, there = 0;
  const auto reads = [](std::string_view from, double& to) {
    return std::from_chars(from.data(), from.data() + from.size(), to).ptr ==
           from.data() + from.size();
  };
  return reads(text, asked) && reads(own, there) && asked == there;
}

void name_arms(std::vector<ArmSummary>& arms) {
  // An arm's name is its label and the regulator's settings in which arms of that label differ. The
  // name is thus equal at all points. Where a sweep has set something else for arms of one label
  // alone, the name has that too.
  const auto varying = [&arms](const ArmSummary& arm, bool anywhere, const ParameterFilter& keep) {
    std::vector<const ArmSummary*> same{&arm};
    for (const auto& other : arms)
      if (other.label == arm.label && (anywhere || other.point == arm.point))
        same.push_back(&other);
    return varying_of(same, keep);
  };
  const ParameterFilter others = [](std::string_view n) {
    return tells_arms_apart(n) && !is_regulator_parameter(n);
  };
  for (auto& arm : arms) {
    auto names = varying(arm, true, is_regulator_parameter);
    std::ranges::copy(varying(arm, false, others), std::back_inserter(names));
    const std::string settings = setting_values(arm, names);
    arm.name = arm.label + (settings.empty() ? "" : " " + settings);
  }
}

std::string off_of_point(const std::vector<ArmSummary>& arms, std::size_t point) {
  const auto off = std::ranges::find_if(
      arms, [point](const ArmSummary& arm) { return arm.off && arm.point == point; });
  return off == arms.end() ? "the baseline" : off->label;
}

namespace {

/// Two arms that say in what two points differ: those of one label, because an arm of another one
/// has settings of its own, which are no part of a point.
struct Speakers {
  const ArmSummary* first = nullptr;  ///< at the first point
  const ArmSummary* here = nullptr;
  bool alike = false;  ///< they have one label
};

Speakers speakers_of(const std::vector<ArmSummary>& arms, std::size_t point) {
  Speakers found;
  for (const bool off : {true, false})
    for (const auto& arm : arms) {
      if (arm.point != point || arm.off != off) continue;
      const auto same = std::ranges::find_if(arms, [&](const ArmSummary& other) {
        return other.point == arms.front().point && other.label == arm.label;
      });
      if (same != arms.end()) return {&*same, &arm, true};
      if (found.here == nullptr) found = {&arms.front(), &arm, false};
    }
  return found;
}

}  // namespace

std::vector<std::string> point_names(const std::vector<ArmSummary>& arms) {
  std::vector<Speakers> all;
  for (const auto& arm : arms)
    if (all.empty() || all.back().here->point != arm.point)
      all.push_back(speakers_of(arms, arm.point));
  std::vector<std::vector<std::string>> changed;  // of each point
  std::set<std::string> any;
  for (const auto& [first, here, alike] : all) {
    const bool both_off = alike && here->role == ArmRole::kBaseline;
    changed.push_back(varying_of({first, here}, [both_off](std::string_view n) {
      return both_off ? !is_regulator_parameter(n) : !tells_arms_apart(n);
    }));
    any.insert(changed.back().begin(), changed.back().end());
  }
  // Sweeps of one factor each start from the first point, so the difference from it is enough.
  const std::vector<std::string> only(any.begin(), any.end());
  std::vector<std::string> names;
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::string name = setting_values(*all[p].here, only.size() == 1 ? only : changed[p]);
    names.push_back(name.empty() ? "base" : std::move(name));
  }
  return names;
}

}  // namespace outrider::lab
