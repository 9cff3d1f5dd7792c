#pragma once

#include <span>
#include <string_view>

#include "tools/lab/summary/metric.h"

namespace outrider::lab {

/// Defines one figure of a group of background. summary.json, its schema, groups.csv, the tables
/// and the report are made from these rows.
struct GroupFigure {
  std::string_view name;
  Unit unit = Unit::kNumber;
  std::string_view help;  ///< one sentence, without a full stop
  double GroupMetrics::*value;
  bool change = false;  ///< the ratio to the baseline's is meaningful
  Column column{};      ///< an empty or zero member follows from the unit
};

/// Returns all rows, in the order of summary.json.
std::span<const GroupFigure> group_figures();

/// Returns the figure of this name. @throws std::out_of_range if there is none
const GroupFigure& group_figure_named(std::string_view name);

/// Returns the column of a figure with heading, unit and scale all filled in.
Column column_of(const GroupFigure& figure);

}  // namespace outrider::lab
