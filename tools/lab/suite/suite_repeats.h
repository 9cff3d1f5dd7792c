#pragma once

#include <optional>
#include <string>

#include "tools/lab/results/query.h"

namespace outrider::lab {

/// Returns the coefficient of variation of a metric over an arm's seeds, standard deviation over
/// mean, the largest of all arms at all points: what test plans call repeatability.
/// @return nothing if no arm has the metric in two runs, or its mean is 0 in all
/// @throws QueryError if the results are of another version
std::optional<double> largest_variation(const ResultsReader& results, const std::string& metric);

}  // namespace outrider::lab
