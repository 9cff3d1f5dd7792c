#pragma once

#include <span>

#include "trafficgen/measure/job_report.h"

namespace outrider::tg {

/// Summarises the iterations of one job. Iterations that have not ended are left out.
/// @param iterations of this job only
JobReport summarise_job(std::span<const IterationRecord> iterations);

}  // namespace outrider::tg
