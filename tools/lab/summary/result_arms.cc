#include "tools/lab/summary/result_arms.h"

#include <algorithm>
#include <functional>
#include <iterator>
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

std::string why_no_result(std::string_view text, const nlohmann::json::exception& error) {
  constexpr const char* kAgain = "; run the experiment again, which writes it whole";
  if (text.find_first_not_of(" \n\r\t") == std::string_view::npos)
    return std::string("is empty") + kAgain;
  const auto* syntax = dynamic_cast<const nlohmann::json::parse_error*>(&error);
  if (syntax == nullptr)
    return "is JSON, but no summary.json of outrider-lab; name a directory that `outrider-lab run` "
           "wrote";
  if (syntax->byte >= text.size())
    return "ends in its middle: it was cut off" + std::string(kAgain);
  return "is no JSON from byte " + std::to_string(syntax->byte) +
         " on; name the summary.json of a directory that `outrider-lab run` wrote";
}

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
  return off == arms.end() ? "the baseline" : off->json->at("label").get<std::string>();
}

namespace {

/// Two arms that say in what two points differ: those of one label, because an arm of another one
/// has settings of its own, which are no part of a point.
struct Speakers {
  const ReportArm* first = nullptr;  ///< at the first point
  const ReportArm* here = nullptr;
  bool alike = false;  ///< they have one label
};

Speakers speakers_of(const std::vector<ReportArm>& arms, std::size_t point) {
  const auto label = [](const ReportArm& arm) { return arm.json->at("label"); };
  Speakers found;
  for (const bool off : {true, false})
    for (const auto& arm : arms) {
      if (arm.point != point || arm.off != off) continue;
      const auto same = std::ranges::find_if(arms, [&](const ReportArm& other) {
        return other.point == arms.front().point && label(other) == label(arm);
      });
      if (same != arms.end()) return {&*same, &arm, true};
      if (found.here == nullptr) found = {&arms.front(), &arm, false};
    }
  return found;
}

}  // namespace

std::vector<std::string> point_names(const std::vector<ReportArm>& arms) {
  std::vector<Speakers> all;
  for (const auto& arm : arms)  // sorted by their points
    if (all.empty() || all.back().here->point != arm.point)
      all.push_back(speakers_of(arms, arm.point));
  std::vector<std::vector<std::string>> changed;  // of each point
  std::set<std::string> any;
  for (const auto& [first, here, alike] : all) {
    const bool both_off = alike && here->json->value("role", "") == name_of(ArmRole::kBaseline);
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
