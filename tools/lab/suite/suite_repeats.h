#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/lab/results/query.h"

namespace outrider::lab {

/// Returns standard deviation over mean; nothing of fewer than two values, or if the mean is 0.
std::optional<double> coefficient_of_variation(const std::vector<double>& values);

/// Returns the coefficient of variation of a metric over an arm's seeds, standard deviation over
/// mean, the largest of all arms at all points: what test plans call repeatability.
/// @return nothing if no arm has the metric in two runs, or its mean is 0 in all
/// @throws QueryError if the results are of another version
std::optional<double> largest_variation(const ResultsReader& results, const std::string& metric);

}  // namespace outrider::lab
