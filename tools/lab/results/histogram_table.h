#pragma once

#include <vector>

#include "tools/lab/results/run_table.h"

namespace outrider::lab {

std::vector<TableColumn> histogram_columns();

/// Writes a row for each bucket that holds values, of all histograms of a run that metrics are
/// computed from: completion and slowdown of flows that come and go, by size; latency of requests;
/// sojourn at the measured queue.
void write_histograms_of(RunRows& rows, Runtime runtime, const RunName& name,
                         const RunResult& result);

}  // namespace outrider::lab
