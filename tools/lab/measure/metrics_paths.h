#pragma once

#include "switch/config/config.h"
#include "switch/report/report.h"
#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// How evenly equal-cost ports share the load, by the frame bytes that they sent.
struct PathBalance {
  double mmr = kNotDefined;         ///< the busiest port over the mean: 1 is even, n: one has all
  double jain_index = kNotDefined;  ///< (sum x)^2 / (n sum x^2): 1 is even, 1/n: one has all
};

/// Returns the balance of the set of ports with the largest MMR, of all sets that a route names.
/// NaN if no route names several ports, or none of them sent anything. Pure.
PathBalance path_balance(const sw::SwitchProcessConfig& switches, const sw::SwitchReport& report);

}  // namespace outrider::lab
