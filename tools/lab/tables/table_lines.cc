#include "tools/lab/tables/table_lines.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tools/lab/experiment/summary_points.h"

namespace outrider::lab {

namespace {

std::vector<const ArmSummary*> chosen_arms(const std::vector<ArmSummary>& arms,
                                           const TableRequest& request) {
  const auto as_asked = [&](const ArmSummary& arm) {
    return std::ranges::all_of(request.where,
                               [&](const auto& w) { return has_value(arm, w.first, w.second); });
  };
  std::vector<const ArmSummary*> chosen;
  const auto take = [&](const std::string* label) {
    const std::size_t before = chosen.size();
    for (const auto& arm : arms)
      if ((label == nullptr || arm.label == *label) && as_asked(arm)) chosen.push_back(&arm);
    if (chosen.size() == before)
      throw std::runtime_error(label == nullptr ? "no arm is as --where says"
                                                : *label + ": no such arm, or not as --where says");
  };
  if (request.arms.empty()) take(nullptr);
  for (const auto& label : request.arms) take(&label);
  return chosen;
}

/// Returns the parameters of an arm that differ between arms of its label, with their values.
std::vector<std::pair<std::string, std::string>> varying_settings(
    const ArmSummary& arm, const std::vector<const ArmSummary*>& arms) {
  std::vector<std::pair<std::string, std::string>> varying;
  for (const auto& [name, value] : arm.parameters) {
    const std::string own = text_of(value);
    const bool varies = std::ranges::any_of(arms, [&, &n = name](const ArmSummary* other) {
      if (other->label != arm.label) return false;
      const ParameterValue* there = parameter_of(*other, n);
      return there == nullptr || text_of(*there) != own;
    });
    if (varies) varying.emplace_back(name, own);
  }
  return varying;
}

}  // namespace

std::vector<TableLine> lines_of(const Results& results, const TableRequest& request) {
  const auto arms = chosen_arms(results.arms, request);
  std::vector<TableLine> lines;
  lines.reserve(arms.size());
  for (const ArmSummary* arm : arms)
    lines.push_back({arm, varying_settings(*arm, arms), off_of_point(results.arms, arm->point)});
  return lines;
}

std::string name_of(const TableLine& line) {
  std::string name = line.arm->label;
  for (const auto& [setting, value] : line.settings) name.append(" " + setting + "=" + value);
  return name;
}

Grid grid_of_lines(const std::vector<TableLine>& lines, TableForm form) {
  Grid grid;
  if (form == TableForm::kText) {
    grid.columns.push_back({.heading = "", .cells = GridCells::kName});
    for (const auto& line : lines) grid.rows.push_back({name_of(line)});
    return grid;
  }
  std::vector<std::string> names;
  for (const auto& line : lines)
    for (const auto& [name, value] : line.settings)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  grid.columns.push_back({.heading = "arm", .cells = GridCells::kName});
  for (const auto& name : names)
    grid.columns.push_back({.heading = name, .cells = GridCells::kSetting});
  for (const auto& line : lines) {
    auto& row = grid.rows.emplace_back(1, line.arm->label);
    for (const auto& name : names) {
      const auto it =
          std::ranges::find(line.settings, name, &std::pair<std::string, std::string>::first);
      row.push_back(it == line.settings.end() ? "" : it->second);
    }
  }
  return grid;
}

std::string csv_number(double value) {
  return std::isnan(value) ? std::string() : text_of(ParameterValue(value));
}

}  // namespace outrider::lab
