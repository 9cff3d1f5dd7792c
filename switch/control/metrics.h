#pragma once

#include <vector>

#include "common/prometheus/endpoint.h"
#include "switch/report/process_state.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// Returns what Prometheus is shown of a switch: the process, its queues, and what they run on.
/// docs/running.md lists the names.
std::vector<MetricRecord> metrics_of(const SwitchReport& report, const ProcessState& state);

}  // namespace outrider::sw
