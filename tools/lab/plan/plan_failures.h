#pragma once

#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/topology.h"

namespace outrider::lab {

/// Returns what the failures of a fabric change in its switches, and when: ports of a link that is
/// down lose everything, and routes avoid it from `reroute_after` on. Empty without failures.
///
/// Routes are those of the fabric without the link. Of several equal ways that are left, a flow may
/// get another one than before, even if its own did not fail: the hash is over fewer.
///
/// @param begin  the switches at the begin of the run
/// @param issues  gets a fault for each failure without which no path is left
std::vector<NetworkChange> plan_failures(const ExperimentFile& experiment,
                                         const CaseParameters& parameters, const Topology& topology,
                                         const sw::SwitchProcessConfig& begin,
                                         ConfigIssues& issues);

}  // namespace outrider::lab
