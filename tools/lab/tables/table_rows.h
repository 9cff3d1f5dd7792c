#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

/// A cell of a block: a metric's value, its change against off, or the confidence interval of the
/// value or of the change.
struct MetricCell {
  enum Part : std::uint8_t { kValue, kValueInterval, kChange, kInterval };
  std::string_view metric;
  Part part = kValue;
};

/// Returns the column of what a cell names.
using ColumnOf = Column (*)(std::string_view name);
Column column_of_metric(std::string_view name);

/// The arms of a point.
using Arms = std::vector<const ArmSummary*>;

/// Says whether an arm is compared with another one than the `off` of its point.
bool has_other_baseline(const ArmSummary& arm);

/// Returns the name of the row against the arm's own baseline: "on-mark-pfc / off-pfc".
std::string baseline_name(const ArmSummary& arm, const Arms& point);

/// Returns the label of the `off` of a point; "the baseline" if it has none.
std::string off_label(const Arms& point);

/// Returns the name of the row against `off`, below the one above.
std::string off_name(const Arms& point);

/// Returns the row of an arm. Where its baseline is not off, and the cells depend on that, a row
/// against off follows.
std::string arm_rows(const ArmSummary& arm, const Arms& point, std::span<const MetricCell> cells);

/// Returns two lines: the headings of the columns and their units.
std::string cell_headings(std::span<const MetricCell> cells,
                          ColumnOf column_named = column_of_metric);

/// Returns the headings and the rows of all arms.
std::string arms_rows(const Arms& point, std::span<const MetricCell> cells);

}  // namespace outrider::lab
