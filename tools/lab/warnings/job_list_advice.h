#pragma once

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// Returns what arms and sweeps give in vain, because every job of the list has its own value. What
/// a base or rivals give is left out.
ConfigIssues job_list_advice(const ExperimentFile& experiment);

}  // namespace outrider::lab
