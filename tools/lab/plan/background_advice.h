#pragma once

#include <span>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan_rows.h"

namespace outrider::lab {

/// Returns why no arm meets background although the experiment has a [background], and why the
/// measured queue shows none of it or none of the bursts.
/// @param rows  of the experiment, see rows_of()
ConfigIssues background_advice(const ExperimentFile& experiment, std::span<const PlannedRow> rows);

}  // namespace outrider::lab
