#pragma once

#include <vector>

#include "common/telemetry/figures.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// The figures of one queue; those of the process, without its queues. In the order of the
/// rows, which is always the same.
std::vector<FigureValue> figures_of(const QueueCounts& queue);
std::vector<FigureValue> figures_of(const SwitchReport& process);

}  // namespace outrider::sw
