#include "tools/lab/summary/column_table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/telemetry/csv_text.h"
#include "common/telemetry/display_width.h"
#include "common/telemetry/markup_text.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

namespace {

enum class Part : std::uint8_t { kValue, kRange, kChange };

struct ShownColumn {
  ShownFigure figure;
  Part part = Part::kValue;
};

struct Line {
  const ArmSummary* arm;
  std::vector<std::pair<std::string, std::string>> settings;  ///< those that vary in its label
  std::string off;  ///< label of what all arms of its point are compared with
};

ShownColumn column_named(const std::string& text) {
  const auto colon = text.find(':');
  const std::string part = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (part != "" && part != "range" && part != "change")
    throw std::out_of_range(text + ": after the colon stands range or change");
  return {shown_figure(text.substr(0, colon)), part == ""        ? Part::kValue
                                               : part == "range" ? Part::kRange
                                                                 : Part::kChange};
}

std::vector<ShownColumn> columns_of(const TableRequest& request) {
  std::vector<ShownColumn> columns;
  for (const auto& name : request.columns) columns.push_back(column_named(name));
  if (columns.empty())
    for (const auto& m : metrics())
      if (!m.tested.empty()) columns.push_back({shown_figure(m.name)});
  return columns;
}

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

/// Returns the estimate that the column shows; all NaN if the arm has no such metric.
Estimate estimate_of(const Line& line, const ShownColumn& column) {
  const ArmMetric metric = line.arm->metric(column.figure.name);
  return column.part == Part::kChange ? metric.change : metric.value;
}

/// Returns what a change is against, and that against `off`; empty where `off` is the baseline.
std::string against_text(const Line& line, const ShownColumn& column) {
  const auto& others = line.arm->against_off;
  const auto other = std::ranges::find(others, column.figure.name, &ArmMetric::name);
  if (other == others.end() || std::isnan(other->change.value)) return "";
  return " / " + line.arm->against + ", " + shown_change(other->change.value) + " / " + line.off;
}

std::string cell_text(const Line& line, const ShownColumn& column) {
  const Estimate e = estimate_of(line, column);
  const auto with = [](const std::string& value, const std::string& interval) {
    return interval.empty() ? value : value + " " + interval;
  };
  const double scale = column.figure.column.scale;
  switch (column.part) {
    case Part::kChange:
      return with(shown_change(e.value), shown_interval(e)) + against_text(line, column);
    case Part::kRange:
      return with(shown(e.value * scale), shown_bounds(e, scale));
    case Part::kValue:
      break;
  }
  return shown(e.value * scale);
}

std::string name_of(const Line& line) {
  std::string name = line.arm->label;
  for (const auto& [setting, value] : line.settings) name.append(" " + setting + "=" + value);
  return name;
}

/// Returns the columns of CSV that stand for one that is shown, each with what it takes of an
/// estimate: a range has its bounds beside the value, a change has both too.
std::vector<std::pair<std::string, double Estimate::*>> numbers_of(const ShownColumn& column) {
  const std::string name(column.figure.name), change = name + "_change";
  switch (column.part) {
    case Part::kRange:
      return {{name, &Estimate::value},
              {name + "_low", &Estimate::low},
              {name + "_high", &Estimate::high}};
    case Part::kChange:
      return {{change, &Estimate::value},
              {change + "_low", &Estimate::low},
              {change + "_high", &Estimate::high}};
    case Part::kValue:
      break;
  }
  return {{name, &Estimate::value}};
}

std::string csv(const std::vector<Line>& lines, const std::vector<ShownColumn>& columns) {
  std::string text = "arm";
  for (const auto& c : columns)
    for (const auto& [name, number] : numbers_of(c)) text += "," + name;
  for (const auto& line : lines) {
    text += "\n" + csv_text(name_of(line));
    for (const auto& c : columns) {
      const Estimate e = estimate_of(line, c);
      for (const auto& [name, number] : numbers_of(c))
        text += "," + (std::isnan(e.*number) ? std::string() : text_of(ParameterValue(e.*number)));
    }
  }
  return text + "\n";
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

std::string terminal(const std::vector<Line>& lines, const std::vector<ShownColumn>& columns) {
  std::size_t name_width = 0;
  for (const auto& line : lines) name_width = std::max(name_width, display_width(name_of(line)));
  std::vector<std::string> rows(2 + lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) rows[2 + i] = name_of(lines[i]);
  for (auto& row : rows) row = padded_to(row, name_width);
  for (const auto& c : columns) {
    const Column column = c.figure.column;
    std::vector<std::string> cells{std::string(column.heading), std::string(column.unit)};
    for (const auto& line : lines) cells.push_back(cell_text(line, c));
    std::size_t width = 0;
    for (const auto& cell : cells) width = std::max(width, display_width(cell) + 2);
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] += right_aligned(cells[r], width);
  }
  std::string text;
  for (auto& row : rows) text += row.erase(row.find_last_not_of(' ') + 1) + "\n";
  return text;
}

std::string heading_with_unit(const ShownColumn& column) {
  const Column c = column.figure.column;
  std::string text(c.heading);
  if (column.part == Part::kChange) return text + ", change";
  const std::string_view unit = c.unit;
  if (unit.empty()) return text;
  return text + (unit.starts_with('/') ? " " + std::string(unit) : " [" + std::string(unit) + "]");
}

/// A table with a column for each setting that varies.
struct Grid {
  std::vector<std::string> settings;            ///< names, behind the arm's label
  std::vector<std::string> headings;            ///< of the metrics
  std::vector<std::vector<std::string>> cells;  ///< [line]: settings, then metrics
};

Grid grid_of(const std::vector<Line>& lines, const std::vector<ShownColumn>& columns) {
  Grid grid;
  for (const auto& line : lines)
    for (const auto& [name, value] : line.settings)
      if (std::ranges::find(grid.settings, name) == grid.settings.end())
        grid.settings.push_back(name);
  for (const auto& c : columns) grid.headings.push_back(heading_with_unit(c));
  for (const auto& line : lines) {
    auto& cells = grid.cells.emplace_back();
    for (const auto& name : grid.settings) {
      const auto it =
          std::ranges::find(line.settings, name, &std::pair<std::string, std::string>::first);
      cells.push_back(it == line.settings.end() ? "" : it->second);
    }
    for (const auto& c : columns) cells.push_back(cell_text(line, c));
  }
  return grid;
}

std::string markdown(const std::vector<Line>& lines, const std::vector<ShownColumn>& columns) {
  const Grid grid = grid_of(lines, columns);
  std::string text = "| arm |", rule = "|---|";
  for (const auto& name : grid.settings) text += " `" + name + "` |", rule += "---|";
  for (const auto& heading : grid.headings) text += " " + heading + " |", rule += "---|";
  text += "\n" + rule + "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += "| `" + lines[i].arm->label + "` |";
    for (const auto& cell : grid.cells[i]) text += (cell.empty() ? "" : " " + cell) + " |";
    text += "\n";
  }
  return text;
}

std::string html(const std::vector<Line>& lines, const std::vector<ShownColumn>& columns) {
  const Grid grid = grid_of(lines, columns);
  const auto cell = [](const char* tag, const std::string& text) {
    return std::string("<") + tag + ">" + markup_text(text) + "</" + tag + ">";
  };
  std::string text = "<table>\n<tr>" + cell("th", "arm");
  for (const auto& name : grid.settings) text += cell("th", name);
  for (const auto& heading : grid.headings) text += cell("th", heading);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += "</tr>\n<tr>" + cell("td", lines[i].arm->label);
    for (const auto& one : grid.cells[i]) text += cell("td", one);
  }
  return text + "</tr>\n</table>\n";
}

}  // namespace

std::string column_table(const Results& results, const TableRequest& request) {
  const auto columns = columns_of(request);
  const auto arms = chosen_arms(results.arms, request);
  std::vector<Line> lines;
  lines.reserve(arms.size());
  for (const ArmSummary* arm : arms)
    lines.push_back({arm, varying_settings(*arm, arms), off_of_point(results.arms, arm->point)});
  switch (request.form) {
    case TableForm::kCsv:
      return csv(lines, columns);
    case TableForm::kMarkdown:
      return markdown(lines, columns);
    case TableForm::kHtml:
      return html(lines, columns);
    case TableForm::kText:
      break;
  }
  return terminal(lines, columns);
}

}  // namespace outrider::lab
