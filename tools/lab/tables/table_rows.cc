#include "tools/lab/tables/table_rows.h"

#include <algorithm>
#include <cmath>

#include "tools/lab/summary/metric.h"

namespace outrider::lab {

namespace {

std::string cell_text(const ArmSummary& arm, const MetricCell& cell) {
  const ArmMetric m = arm.metric(cell.metric);
  const double scale = column_of(metric_named(cell.metric)).scale;
  if (cell.part == MetricCell::kValue) return shown(m.value.value * scale);
  if (cell.part == MetricCell::kValueInterval) return shown_bounds(m.value, scale);
  if (arm.off) return "";
  return cell.part == MetricCell::kChange ? shown_change(m.change.value) : shown_interval(m.change);
}

TableCells values(const ArmSummary& arm, std::span<const MetricCell> cells) {
  TableCells texts;
  for (std::size_t i = 0; i < cells.size(); ++i) texts[i] = cell_text(arm, cells[i]);
  return texts;
}

/// Returns a figure against `off`; empty where it is none, or the same as against the baseline.
std::string cell_against_off(const ArmSummary& arm, const MetricCell& cell) {
  const ArmMetric m = arm.metric_against_off(cell.metric);
  if (cell.part == MetricCell::kChange)
    return std::isnan(m.change.value) ? "" : shown_change(m.change.value);
  if (cell.part == MetricCell::kInterval) return shown_interval(m.change);
  const double own = arm.metric(cell.metric).value.value;
  if (std::isnan(m.value.value) || m.value.value == own) return "";
  const double scale = column_of(metric_named(cell.metric)).scale;
  return cell.part == MetricCell::kValue ? shown(m.value.value * scale)
                                         : shown_bounds(m.value, scale);
}

}  // namespace

bool has_other_baseline(const ArmSummary& arm) { return !arm.against_off.empty(); }

std::string baseline_name(const ArmSummary& arm, const Arms& point) {
  return arm.name + " / " + (arm.against.empty() ? off_label(point) : arm.against);
}

std::string off_label(const Arms& point) {
  const auto off = std::ranges::find_if(point, [](const ArmSummary* arm) { return arm->off; });
  return off == point.end() ? "the baseline" : (*off)->label;
}

std::string off_name(const Arms& point) { return "  / " + off_label(point); }

std::string arm_rows(const ArmSummary& arm, const Arms& point, std::span<const MetricCell> cells) {
  TableCells against_off;
  bool any = false;
  if (has_other_baseline(arm))
    for (std::size_t i = 0; i < cells.size(); ++i) {
      against_off[i] = cell_against_off(arm, cells[i]);
      any |= !against_off[i].empty();
    }
  if (!any) return table_line(arm.name, values(arm, cells));
  return table_line(baseline_name(arm, point), values(arm, cells)) +
         table_line(off_name(point), against_off);
}

Column column_of_metric(std::string_view name) { return column_of(metric_named(name)); }

std::string cell_headings(std::span<const MetricCell> cells, ColumnOf column_named) {
  TableCells names, units;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Column column = column_named(cells[i].metric);
    const bool value = cells[i].part == MetricCell::kValue;
    names[i] = value                                  ? std::string(column.heading)
               : cells[i].part == MetricCell::kChange ? "change"
                                                      : "95 %";
    if (value) units[i] = column.unit;
  }
  return table_line("", names) + table_line("", units);
}

std::string arms_rows(const Arms& point, std::span<const MetricCell> cells) {
  std::string text = cell_headings(cells);
  for (const ArmSummary* arm : point) text += arm_rows(*arm, point, cells);
  return text;
}

}  // namespace outrider::lab
