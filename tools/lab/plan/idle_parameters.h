#pragma once

#include <span>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan_rows.h"

namespace outrider::lab {

/// Returns the parameters and settings of the programs to which the file gives another value than
/// the default, and which do nothing in any row with that value: a weight of queues without two
/// queues, the length of bursts beside a model. Once a value, by the place that gives it.
/// @param rows  of the experiment, see rows_of()
ConfigIssues idle_parameters(const ExperimentFile& experiment, std::span<const PlannedRow> rows);

}  // namespace outrider::lab
