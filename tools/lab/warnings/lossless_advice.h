#pragma once

#include <span>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Returns what makes lossless classes (PFC) of the cases lose packets: hosts that obey no pauses,
/// and headroom that does not hold what a link brings, of the link that lacks most in any of them.
ConfigIssues lossless_advice(std::span<const Case> cases);

}  // namespace outrider::lab
