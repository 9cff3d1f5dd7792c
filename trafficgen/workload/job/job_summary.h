#pragma once

#include <span>

#include "trafficgen/measure/job_report.h"

namespace outrider::tg {

/// Figures of one job from its iterations; what has not ended is left out.
/// @param iterations of this job alone
JobReport summarise_job(std::span<const IterationRecord> iterations);

}  // namespace outrider::tg
