#pragma once

#include <cstddef>

#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Bounds what is kept of a large network. What has no line of its own is in the line kOtherLinks
/// of its tier, so that sums over all lines are those over all links.
struct LinkLimits {
  std::size_t links = 1024;  ///< lines of a tier: the links with the largest utilisation
  std::size_t series = 32;   ///< the same, over time
};

/// Takes the results of each link, and of each job at its worst link, from the reports of a run.
///
/// Tiers are named by the kinds of switches at both ends, which are their names without a number:
/// "leaf to spine". Ports without a switch behind them are "leaf to host". Tiers between switches
/// come first, each kind in the order of the configuration.
///
/// @param c  its switches are those of the report. @pre trim() has not been called
LinkResults links_of(const Case& c, const RunResult& run, const LinkLimits& limits = {});

}  // namespace outrider::lab
