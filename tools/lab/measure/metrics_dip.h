#pragma once

#include <vector>

#include "common/core/clock.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"

namespace outrider::lab {

/// How the background's goodput, taken over the last 10 base RTTs (at least a bin),
/// falls around each iteration and comes back.
///
/// Its level before: mean over the 100 base RTTs before the START (or the due
/// time, if earlier), less if the iteration before ended later; an iteration with
/// less than 10 base RTTs of it is left out. Lowest: between there and 10 base
/// RTTs after the last delivery. Back: first instant after the lowest at which the
/// goodput is at 95 % of its level before, counted from the due time.
BackgroundDip background_dip(const std::vector<IterationBursts>& pushes, Duration base_rtt,
                             const tg::GeneratorReport& traffic);

}  // namespace outrider::lab
