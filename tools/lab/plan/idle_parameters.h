#pragma once

#include <span>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan_rows.h"

namespace outrider::lab {

/// Returns the parameters and settings of the programs to which the file gives another value than
/// the default, and which do less than they say in all rows with that value. They do nothing, such
/// as a weight of queues without two queues or the length of bursts beside a model; or a setting
/// that the file inherits stays beside them, such as the controller of bursts beside one of all
/// transports. Once a value, by the place that gives it. What a base or rivals give is left out.
/// @param rows  of the experiment, see rows_of()
ConfigIssues idle_parameters(const ExperimentFile& experiment, std::span<const PlannedRow> rows);

}  // namespace outrider::lab
