#pragma once

#include <vector>

#include "tools/lab/results/run_table.h"

namespace outrider::lab {

// Tables of queues over time: bins as they were recorded around bursts, and many together between
// them.

/// The measured queue, and goodput beside it.
std::vector<TableColumn> queue_columns();
void write_queue_of(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result);

/// The queues of the ports that the experiment observes.
std::vector<TableColumn> queues_columns();
void write_queues_of(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result);

/// Times during which a queue was regulated or stopped, or stopped its neighbour.
std::vector<TableColumn> span_columns();
void write_spans_of(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result);
bool has_spans(const Case& definition, const RunResult& result);

}  // namespace outrider::lab
