#pragma once

#include <vector>

#include "common/telemetry/figures.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// Returns the figures of one queue in the order of the rows, which never changes.
std::vector<FigureValue> figures_of(const QueueCounts& queue);
/// Returns the figures of the process, without its queues, in the order of the rows.
std::vector<FigureValue> figures_of(const SwitchReport& process);

}  // namespace outrider::sw
