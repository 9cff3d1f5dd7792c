#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "tools/lab/experiment/experiment_parameters.h"
#include "tools/lab/report/report_data.h"

namespace outrider::lab {

namespace {

using ParameterFilter = std::function<bool(std::string_view)>;

std::string text_of(const ReportJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns the parameters for which `keep` is true that differ between arms, in their order.
std::vector<std::string> varying(const std::vector<const ReportArm*>& arms,
                                 const ParameterFilter& keep) {
  std::vector<std::string> names;
  if (arms.empty()) return names;
  for (const auto& [name, first] : arms[0]->parameters.items())
    if (keep(name) && std::ranges::any_of(arms, [&key = name, &v = first](const ReportArm* a) {
          return a->parameters.at(key) != v;
        }))
      names.push_back(name);
  return names;
}

/// Returns the values of some parameters, "tcp=reno, workers=2".
std::string values_of(const ReportArm& arm, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + name + "=" + text_of(arm.parameters.at(name));
  return text;
}

}  // namespace

std::vector<ReportArm> report_arms(const ReportJson& summary) {
  std::vector<ReportArm> arms;
  for (const auto& json : summary.at("arms")) {
    ReportArm arm{.json = &json, .point = json.at("point").get<std::size_t>(), .name = {}};
    arm.parameters = json.at("parameters");
    arm.parameters.update(json.at("settings"));
    for (const auto& i : json.at("cases")) arm.cases.push_back(i.get<std::size_t>());
    arm.off = !arm.cases.empty() &&
              summary.at("cases").at(arm.cases[0]).at("off_case") == json.at("cases").at(0);
    arms.push_back(std::move(arm));
  }
  // An arm's name is its label and the regulator's settings in which it differs from the first
  // arm of that label. The name is thus equal at all points.
  for (auto& arm : arms) {
    const auto first = std::ranges::find_if(arms, [&arm](const ReportArm& other) {
      return other.json->at("label") == arm.json->at("label");
    });
    const std::string settings = values_of(arm, varying({&*first, &arm}, is_regulator_parameter));
    arm.name = arm.json->at("label").get<std::string>() + (settings.empty() ? "" : " " + settings);
  }
  return arms;
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
  const ParameterFilter keep = [](std::string_view n) { return !is_regulator_parameter(n); };
  const auto differing = varying(all, keep);
  std::vector<std::string> names;
  for (const ReportArm* speaker : all) {
    // Sweeps of one factor each start from the first point, so the difference from it is enough.
    std::string name = differing.size() == 1
                           ? values_of(*speaker, differing)
                           : values_of(*speaker, varying({all[0], speaker}, keep));
    names.push_back(name.empty() ? "base" : std::move(name));
  }
  return names;
}

}  // namespace outrider::lab
