#pragma once

#include <vector>

#include "tools/lab/results/run_table.h"

namespace outrider::lab {

/// The numbers that both programs have counted. A program as a whole has a row for each, so that a
/// missing row says "not counted", as of devices that do not. Queues and reasons are always
/// counted, and have rows for numbers above 0 alone.
std::vector<TableColumn> counter_columns();
void write_counters_of(RunRows& rows, Runtime runtime, const RunName& name,
                       const RunResult& result);

}  // namespace outrider::lab
