#pragma once

#include <string>

#include "tools/lab/tables/table_rows.h"

namespace outrider::lab {

/// Returns the times of background's flows by size; empty without flows that come and go.
std::string flow_block(const Arms& point);

/// Returns the first block of a table without a job: goodput, how many flows ended, and what
/// changes against the baseline.
std::string flows_alone_block(const Arms& point);

}  // namespace outrider::lab
