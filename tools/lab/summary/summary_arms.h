#pragma once

#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Groups the cases by arm and estimates each arm's metrics over its seeds. If a metric
/// has a value per iteration, the iterations of all seeds are pooled before the mean,
/// median or quantile is taken.
std::vector<ArmSummary> summarise_arms(const std::vector<CaseSummary>& cases);

}  // namespace outrider::lab
