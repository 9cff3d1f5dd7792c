#include "tools/lab/summary/result_arms.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "tools/lab/experiment/experiment_parameters.h"
#include "tools/lab/experiment/summary_points.h"

namespace outrider::lab {

namespace {

using ParameterFilter = std::function<bool(std::string_view)>;

/// Returns the parameters for which `keep` is true that differ between arms, in their order.
std::vector<std::string> varying_of(const std::vector<const ReportArm*>& arms,
                                    const ParameterFilter& keep) {
  std::vector<std::string> names;
  if (arms.empty()) return names;
  for (const auto& [name, first] : arms[0]->parameters.items())
    if (keep(name) && std::ranges::any_of(arms, [&key = name, &v = first](const ReportArm* a) {
          return a->parameters.value(key, ReportJson(nullptr)) != v;
        }))
      names.push_back(name);
  return names;
}

/// Returns the values of some parameters, "tcp=reno, workers=2".
std::string setting_values(const ReportArm& arm, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + name + "=" +
            shown_value(arm.parameters.value(name, ReportJson(nullptr)));
  return text;
}

}  // namespace

std::string shown_value(const ReportJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<ReportArm> report_arms(const ReportJson& summary) {
  std::vector<ReportArm> arms;
  for (const auto& json : summary.at("arms")) {
    ReportArm arm{.json = &json, .point = json.at("point").get<std::size_t>(), .name = {}};
    arm.parameters = json.at("parameters");
    arm.parameters.update(json.at("settings"));
    for (const auto& i : json.at("cases")) arm.cases.push_back(i.get<std::size_t>());
    arm.against = json.value("against", "");
    // Results of an earlier version say it by their cases alone.
    arm.off = json.contains("off")
                  ? json.at("off").get<bool>()
                  : !arm.cases.empty() && summary.at("cases").at(arm.cases[0]).at("off_case") ==
                                              json.at("cases").at(0);
    arms.push_back(std::move(arm));
  }
  // An arm's name is its label and the regulator's settings in which it differs from the first
  // arm of that label. The name is thus equal at all points. Where a sweep has set something else
  // for this arm alone, the name has that too.
  for (auto& arm : arms) {
    const auto first_with = [&](bool anywhere) {
      return &*std::ranges::find_if(arms, [&](const ReportArm& other) {
        return other.json->at("label") == arm.json->at("label") &&
               (anywhere || other.point == arm.point);
      });
    };
    const ParameterFilter others = [](std::string_view n) {
      return tells_arms_apart(n) && !is_regulator_parameter(n);
    };
    auto names = varying_of({first_with(true), &arm}, is_regulator_parameter);
    std::ranges::copy(varying_of({first_with(false), &arm}, others), std::back_inserter(names));
    const std::string settings = setting_values(arm, names);
    arm.name = arm.json->at("label").get<std::string>() + (settings.empty() ? "" : " " + settings);
  }
  for (auto& arm : arms)
    if (arm.against == off_of_point(arms, arm.point)) arm.against.clear();
  return arms;
}

std::string off_of_point(const std::vector<ReportArm>& arms, std::size_t point) {
  const auto off = std::ranges::find_if(
      arms, [point](const ReportArm& arm) { return arm.off && arm.point == point; });
  return off == arms.end() ? "off" : off->json->at("label").get<std::string>();
}

std::vector<std::string> point_names(const std::vector<ReportArm>& arms) {
  std::map<std::size_t, const ReportArm*> speakers;  // the off arm of each point, if there is one
  for (const auto& arm : arms) {
    auto& speaker = speakers[arm.point];
    if (speaker == nullptr || (arm.off && !speaker->off)) speaker = &arm;
  }
  std::vector<const ReportArm*> all;
  all.reserve(speakers.size());
  for (const auto& [point, speaker] : speakers) all.push_back(speaker);
  // Without an off, an arm speaks for its point, which does not have the arm's own settings.
  const bool all_off = std::ranges::all_of(all, &ReportArm::off);
  const ParameterFilter keep = [all_off](std::string_view n) {
    return all_off ? !is_regulator_parameter(n) : !tells_arms_apart(n);
  };
  const auto differing = varying_of(all, keep);
  std::vector<std::string> names;
  for (const ReportArm* speaker : all) {
    // Sweeps of one factor each start from the first point, so the difference from it is enough.
    std::string name = differing.size() == 1
                           ? setting_values(*speaker, differing)
                           : setting_values(*speaker, varying_of({all[0], speaker}, keep));
    names.push_back(name.empty() ? "base" : std::move(name));
  }
  return names;
}

}  // namespace outrider::lab
