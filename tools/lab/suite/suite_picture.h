#pragma once

#include <string>

#include "tools/lab/summary/results.h"

namespace outrider::lab {

/// The rules of CSS that pictures of a page need, in light and dark.
extern const char* const kPictureStyle;

/// Returns a metric over the setting that is swept with most values, as a <figure> with static SVG:
/// a line for each arm and each combination of other swept settings, 95 % intervals over seeds as
/// bars, axes with units, a legend. Empty without a sweep, or if the metric is defined nowhere.
/// @param column  "NAME" or "NAME:part" as column_table() takes it; a change has no picture
std::string sweep_picture(const Results& results, const std::string& column);

}  // namespace outrider::lab
