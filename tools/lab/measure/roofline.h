#pragma once

#include <vector>

#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Returns for each measured iteration of jobs without servers how long it took over its roofline
/// (BMWG draft on AI training fabrics): computing, and then what a rank sends at the rate of its
/// NIC, C + S x factor / rate. The rate is that of the wire, so that headers alone make it more
/// than 1. Of several ranks the slowest one's time and the longest roofline count. Iterations that
/// did not end are left out. Pure.
std::vector<double> over_roofline(const CaseRun& run);

}  // namespace outrider::lab
