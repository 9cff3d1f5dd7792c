#include "tools/lab/summary/table_groups.h"

#include <array>
#include <cmath>
#include <vector>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

namespace {

/// A column of the groups' lines.
struct GroupColumn {
  const char* heading;
  const char* unit;
  double scale;
  double GroupMetrics::*figure;
};

constexpr std::array<GroupColumn, 7> kColumns{
    {{"goodput", "Mbit/s", 1e-6, &GroupMetrics::goodput_bits_per_second},
     {"share", "%", 100, &GroupMetrics::share},
     {"fairness", "", 1, &GroupMetrics::fairness},
     {"flows", "ms, median", 1e3, &GroupMetrics::flow_completion_seconds_median},
     {"flows", "ms, p99", 1e3, &GroupMetrics::flow_completion_seconds_p99},
     {"slowdown", "p99", 1, &GroupMetrics::flow_slowdown_p99},
     {"requests", "ms, p99", 1e3, &GroupMetrics::request_latency_seconds_p99}}};

/// Returns the mean of a figure over those of an arm's seeds that have it.
double mean_of_group(const ArmSummary& arm, const Summary& summary, std::size_t group,
                     double GroupMetrics::*figure) {
  std::vector<double> values;
  for (const std::size_t i : arm.cases) {
    const auto& groups = summary.cases[i].metrics.groups;
    if (group < groups.size() && !std::isnan(groups[group].*figure))
      values.push_back(groups[group].*figure);
  }
  return mean(values);
}

}  // namespace

std::string group_block(const Arms& point, const Summary& summary) {
  std::string rows;
  for (const ArmSummary* arm : point) {
    if (arm->cases.empty()) continue;
    const auto& groups = summary.cases[arm->cases.front()].metrics.groups;
    if (!groups.empty()) rows += table_line(row_name(*arm, point), {});
    for (std::size_t g = 0; g < groups.size(); ++g) {
      TableCells cells;
      for (std::size_t i = 0; i < kColumns.size(); ++i) {
        const double value = mean_of_group(*arm, summary, g, kColumns[i].figure);
        if (!std::isnan(value)) cells[i] = shown(value * kColumns[i].scale);
      }
      rows += table_line("  " + groups[g].name, cells);
    }
  }
  if (rows.empty()) return "";
  TableCells headings, units;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    headings[i] = kColumns[i].heading;
    units[i] = kColumns[i].unit;
  }
  return "Groups of background, over the whole run:\n" + table_line("", headings) +
         table_line("", units) + rows;
}

}  // namespace outrider::lab
