#include <algorithm>
#include <cstdio>

#include "tools/lab/summary/compare.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

std::string padded(const std::string& text, int width) {
  const auto room = static_cast<std::size_t>(width < 0 ? -width : width);
  const std::string fill(room - std::min(room, text.size()), ' ');
  return width < 0 ? text + fill : fill + text;
}

std::string row(const std::string& name, const std::string& a, const std::string& b,
                const std::string& change, const std::string& interval, const std::string& p,
                const std::string& verdict) {
  std::string line = "  " + padded(name, -24) + padded(a, 11) + padded(b, 11) + padded(change, 11) +
                     "  " + padded(interval, -18) + padded(p, 8) + "  " + verdict;
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string p_text(double p) {
  char text[16];
  if (p < 0.001) return "<0.001";
  std::snprintf(text, sizeof text, "%.3f", p);
  return text;
}

std::string row_of(const MetricComparison& m) {
  const Shown as = shown_in(m.metric->unit);
  const std::string unit = as.unit.empty() ? "" : " [" + std::string(as.unit) + ']';
  const std::string change =
      m.relative ? shown_change(m.change.value) : shown(m.change.value * as.scale);
  const std::string interval = m.relative ? shown_interval(m.change)
                                          : "[" + shown(m.change.low * as.scale) + "," +
                                                shown(m.change.high * as.scale) + "]";
  return row(std::string(m.metric->tested) + unit, shown(m.a * as.scale), shown(m.b * as.scale),
             change, interval, p_text(m.adjusted), m.changed ? "CHANGED" : "");
}

std::string heading_of(const ArmComparison& arm) {
  const std::string seeds = arm.paired ? std::to_string(arm.seeds_a) + " seeds, paired"
                                       : std::to_string(arm.seeds_a) + " and " +
                                             std::to_string(arm.seeds_b) + " seeds, not the same";
  std::string text = arm.label + " (" + seeds + ")\n";
  for (const auto& [name, a, b] : arm.differences)
    text += "  " + name + ": " + a + " -> " + b + '\n';
  return text;
}

std::string only_in(const char* which, const std::vector<std::string>& labels) {
  std::string text;
  for (const auto& label : labels) text += "only in " + std::string(which) + ": " + label + '\n';
  return text;
}

}  // namespace

std::string to_text(const Comparison& c) {
  std::string text;
  for (const auto& arm : c.arms) {
    text += heading_of(arm);
    text += row("", "A", "B", "change", "95 %", "p", "");
    for (const auto& m : arm.metrics) text += row_of(m);
    text += '\n';
  }
  text += only_in("A", c.only_a) + only_in("B", c.only_b);
  if (!c.arms.empty())
    text +=
        "A, B: as in their tables, all seeds together. change: of each seed's own figures, mean "
        "of the seeds.\n";
  text += std::to_string(c.changed) + " of " + std::to_string(c.compared) +
          " comparisons changed beyond noise (p adjusted for all of them, below 0.05).\n";
  if (c.too_few_seeds)
    text += "There are too few seeds to find any change among so many: repeat with more.\n";
  return text;
}

}  // namespace outrider::lab
