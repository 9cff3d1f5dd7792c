#pragma once

#include <iosfwd>
#include <span>

#include "trafficgen/report/report.h"

namespace outrider::tg {

/// Figures of one job from its iterations; what has not ended is left out.
/// @param iterations of this job alone
JobReport summarise_job(std::span<const IterationRecord> iterations);

/// A few lines per job for a person to read.
void print_jobs(std::ostream& out, const GeneratorReport& report);

}  // namespace outrider::tg
