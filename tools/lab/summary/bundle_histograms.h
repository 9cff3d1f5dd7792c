#pragma once

#include <ostream>
#include <string>

#include "tools/lab/summary/bundle_csv.h"

namespace outrider::lab {

/// Returns the first line of histograms.csv.
std::string histograms_head();

/// Writes a line for each bucket that holds values, of all histograms of a run that metrics are
/// computed from: completion and slowdown of flows that come and go, by size; latency of requests;
/// sojourn at the measured queue.
void write_histograms_of(std::ostream& out, Runtime runtime, const RunName& name,
                         const RunResult& result);

}  // namespace outrider::lab
