#pragma once

#include "switch/regulation/windows/window_lead.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Returns what the rule of windows says about the measured link of a case: from its rate and round
/// trip, the greatest standing queue that marker and limit allow, h, and the long flows. Flows of a
/// size distribution come and go: they count as one.
WindowLead lead_by_rule(const Case& c);

}  // namespace outrider::lab
