#pragma once

#include <vector>

#include "tools/lab/results/run_table.h"

namespace outrider::lab {

/// What both programs have counted: a row for each number of a report that is not 0. What a device
/// does not count has no row either; summary.json says which.
std::vector<TableColumn> counter_columns();
void write_counters_of(RunRows& rows, Runtime runtime, const RunName& name,
                       const RunResult& result);

}  // namespace outrider::lab
