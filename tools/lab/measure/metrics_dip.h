#pragma once

#include <vector>

#include "common/core/clock.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"

namespace outrider::lab {

/// Measures how the background's goodput, taken over the last 10 base RTTs (at least a
/// bin), falls around each iteration and recovers.
///
/// The level before is the mean over the 100 base RTTs before the START (or the due
/// time, if earlier). The span is shorter if the previous iteration ended within it; an
/// iteration with less than 10 base RTTs is left out. The lowest goodput is searched from
/// there to 10 base RTTs after the last delivery. Recovery is the time from the due time
/// to the first instant after the lowest at which goodput is at 95 % of the level before.
BackgroundDip background_dip(const std::vector<IterationBursts>& pushes, Duration base_rtt,
                             const tg::GeneratorReport& traffic);

}  // namespace outrider::lab
