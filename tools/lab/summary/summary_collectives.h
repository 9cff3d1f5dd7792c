#pragma once

#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Returns the collectives of an arm's jobs; empty if they have none that bus_factor() knows.
/// @param own  its cases, one per seed
std::vector<CollectiveSummary> summarise_collectives(const std::vector<const CaseSummary*>& own);

}  // namespace outrider::lab
