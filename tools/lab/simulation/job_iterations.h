#pragma once

#include <cstdint>
#include <vector>

#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Returns the times of a job's measured iterations that ended, each of the slowest worker [s], in
/// their order. Pure.
std::vector<double> iteration_seconds_of(const Case& definition, const tg::GeneratorReport& report,
                                         std::uint16_t job);

}  // namespace outrider::lab
