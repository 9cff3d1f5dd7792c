#pragma once

#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Gathers the cases of each arm over its seeds and estimates its metrics. Where a
/// metric is of iterations, those of all seeds are pooled before the mean, median
/// or quantile is taken.
std::vector<ArmSummary> summarise_arms(const std::vector<CaseSummary>& cases);

}  // namespace outrider::lab
