#include "tools/lab/tables/table_groups.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "tools/lab/summary/group_figures.h"

namespace outrider::lab {

namespace {

constexpr MetricCell kGoodputs[] = {{"offered_bits_per_second"},
                                    {"goodput_bits_per_second"},
                                    {"goodput_bits_per_second", MetricCell::kValueInterval},
                                    {"goodput_bits_per_second", MetricCell::kChange},
                                    {"goodput_bits_per_second", MetricCell::kInterval},
                                    {"undelivered_fraction"},
                                    {"fairness"},
                                    {"share"}};

constexpr MetricCell kTimes[] = {{"flows_completed"},
                                 {"flows_unfinished"},
                                 {"flow_completion_seconds_median"},
                                 {"flow_completion_seconds_p99"},
                                 {"flow_completion_seconds_p99", MetricCell::kValueInterval},
                                 {"flow_slowdown_p99"},
                                 {"request_latency_seconds_p99"},
                                 {"retransmitted_packets"}};

const ArmMetric& figure_of(const GroupSummary& group, std::string_view name) {
  return *std::ranges::find(group.figures, name, &ArmMetric::name);
}

std::string cell_of(const GroupSummary& group, bool off, const MetricCell& cell) {
  const ArmMetric& m = figure_of(group, cell.metric);
  const double scale = column_of(group_figure_named(cell.metric)).scale;
  const bool of_change = cell.part == MetricCell::kChange || cell.part == MetricCell::kInterval;
  if (std::isnan(of_change ? m.change.value : m.value.value) || (of_change && off)) return "";
  switch (cell.part) {
    case MetricCell::kValue:
      return shown(m.value.value * scale);
    case MetricCell::kValueInterval:
      return shown_bounds(m.value, scale);
    case MetricCell::kChange:
      return shown_change(m.change.value);
    case MetricCell::kInterval:
      return shown_interval(m.change);
  }
  return "";
}

Column column_named(std::string_view figure) { return column_of(group_figure_named(figure)); }

/// Returns a line for each group below the name of its arm; without groups that have one of these
/// figures, nothing.
std::string rows_of(const Arms& point, std::span<const MetricCell> cells) {
  std::string rows;
  for (const ArmSummary* arm : point) {
    std::string own;
    for (const GroupSummary& group : arm->groups) {
      TableCells texts;
      bool any = false;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        texts[i] = cell_of(group, arm->off, cells[i]);
        any |= !texts[i].empty();
      }
      if (any) own += table_line("  " + group.name, texts);
    }
    if (!own.empty()) rows += table_line(arm->name, {}) + own;
  }
  return rows.empty() ? "" : cell_headings(cells, column_named) + rows;
}

}  // namespace

std::string group_block(const Arms& point) {
  const std::string goodputs = rows_of(point, kGoodputs);
  return goodputs.empty() ? ""
                          : "Groups of background, over the whole run:\n" + goodputs +
                                "What their flows and requests had:\n" + rows_of(point, kTimes);
}

}  // namespace outrider::lab
