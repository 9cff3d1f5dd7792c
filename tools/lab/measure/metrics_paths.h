#pragma once

#include "switch/config/config.h"
#include "switch/report/report.h"

namespace outrider::lab {

/// How unevenly equal-cost ports share the load: of each set of them that a route names,
/// the bytes that the busiest sent over the mean of the set, less 1; the largest over all
/// sets. 0: even; n - 1: one of n carries all. Not a number if no route names several
/// ports, or none of them sent anything. Pure.
double path_imbalance(const sw::SwitchProcessConfig& switches, const sw::SwitchReport& report);

}  // namespace outrider::lab
