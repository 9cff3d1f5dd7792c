#pragma once

#include <vector>

#include "common/telemetry/figures.h"
#include "switch/report/process_state.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// Returns the figures of one queue in the order of the rows, which never changes.
std::vector<FigureValue> figures_of(const QueueCounts& queue);
/// Returns the figures of the process, without its queues, in the order of the rows.
std::vector<FigureValue> figures_of(const SwitchReport& process);
std::vector<FigureValue> figures_of(const LcoreState& lcore);
std::vector<FigureValue> figures_of(const LinkState& link);
std::vector<FigureValue> figures_of(const PoolState& pool);

}  // namespace outrider::sw
