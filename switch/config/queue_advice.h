#pragma once

#include "common/core/config_issue.h"
#include "switch/config/queue_config.h"

namespace outrider::sw {

/// Returns what in a valid queue has no effect, by key below `queue`.
ConfigIssues advice(const QueueConfig& queue);

}  // namespace outrider::sw
