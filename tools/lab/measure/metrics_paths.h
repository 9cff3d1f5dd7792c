#pragma once

#include "switch/config/config.h"
#include "switch/report/report.h"

namespace outrider::lab {

/// Returns how unevenly equal-cost ports share the load. For each set of ports that a route
/// names, this is the bytes of the busiest port divided by the mean of the set, minus 1; the
/// result is the largest over all sets. 0 means even; n - 1 means one of n ports carries all.
/// NaN if no route names several ports, or none of them sent anything. Pure.
double path_imbalance(const sw::SwitchProcessConfig& switches, const sw::SwitchReport& report);

}  // namespace outrider::lab
