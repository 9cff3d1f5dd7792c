#pragma once

#include <optional>
#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Estimates the figures of each group of background over the seeds of an arm; empty if its cases
/// have no groups. A run that does not have a figure is left out of its mean.
/// @param all  cases of the summary
/// @param own  those of the arm, one per seed
std::vector<GroupSummary> summarise_groups(const std::vector<CaseSummary>& all,
                                           const std::vector<const CaseSummary*>& own);

}  // namespace outrider::lab
