#pragma once

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// Returns why no arm meets background although the experiment has a [background], and why the
/// measured queue shows none of it or none of the bursts.
ConfigIssues background_advice(const ExperimentFile& experiment);

}  // namespace outrider::lab
