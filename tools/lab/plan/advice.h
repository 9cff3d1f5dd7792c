#pragma once

#include <span>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// Returns what the arms set that is valid but was measured to gain nothing or to slow bursts down,
/// once an arm: the label, and the setting with the reason.
ConfigIssues advice(std::span<const Case> cases);

/// Returns what in the file has no effect: groups of hosts that neither a job nor background uses,
/// background that sends nothing, a measured queue that its data or bursts do not cross, and
/// parameters that do nothing beside others; and arms whose markers treat Not-ECT packets
/// differently by default.
ConfigIssues advice(const ExperimentFile& experiment);

}  // namespace outrider::lab
