#pragma once

#include <span>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Returns where long flows that obey no marks share one queue with bursts that obey them, in
/// baselines: the flows keep the queue above the marker's threshold at all times, so that the
/// bursts get almost none of the link. Once a setting that decides it.
ConfigIssues starvation_advice(std::span<const Case> cases);

}  // namespace outrider::lab
