#include "tools/lab/tables/column_table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/table_lines.h"

namespace outrider::lab {

namespace {

enum class Part : std::uint8_t { kValue, kRange, kChange };

struct ShownColumn {
  ShownFigure figure;
  Part part = Part::kValue;
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

/// Returns the estimate that the column shows; all NaN if the arm has no such metric.
Estimate estimate_of(const TableLine& line, const ShownColumn& column) {
  const ArmMetric metric = line.arm->metric(column.figure.name);
  return column.part == Part::kChange ? metric.change : metric.value;
}

/// Returns what a change is against, and that against `off`; empty where `off` is the baseline.
std::string against_text(const TableLine& line, const ShownColumn& column) {
  const auto& others = line.arm->against_off;
  const auto other = std::ranges::find(others, column.figure.name, &ArmMetric::name);
  if (other == others.end() || std::isnan(other->change.value)) return "";
  return " / " + line.arm->against + ", " + shown_change(other->change.value) + " / " + line.off;
}

std::string cell_text(const TableLine& line, const ShownColumn& column) {
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

Grid csv_grid(const std::vector<TableLine>& lines, const std::vector<ShownColumn>& columns) {
  Grid grid{.columns = {{"arm"}}};
  for (const auto& c : columns)
    for (const auto& [name, number] : numbers_of(c)) grid.columns.push_back({name});
  for (const auto& line : lines) {
    auto& row = grid.rows.emplace_back(1, name_of(line));
    for (const auto& c : columns) {
      const Estimate e = estimate_of(line, c);
      for (const auto& [name, number] : numbers_of(c)) row.push_back(csv_number(e.*number));
    }
  }
  return grid;
}

Grid shown_grid(const std::vector<TableLine>& lines, const std::vector<ShownColumn>& columns,
                TableForm form) {
  Grid grid = grid_of_lines(lines, form);
  for (const auto& c : columns) {
    const Column column = c.figure.column;
    const bool change = c.part == Part::kChange;
    grid.columns.push_back({std::string(column.heading) + (change ? ", change" : ""),
                            change ? "" : std::string(column.unit)});
    for (std::size_t i = 0; i < lines.size(); ++i) grid.rows[i].push_back(cell_text(lines[i], c));
  }
  return grid;
}

}  // namespace

std::string column_table(const Results& results, const TableRequest& request) {
  const auto columns = columns_of(request);
  const auto lines = lines_of(results, request);
  return text_of(request.form == TableForm::kCsv ? csv_grid(lines, columns)
                                                 : shown_grid(lines, columns, request.form),
                 request.form);
}

}  // namespace outrider::lab
