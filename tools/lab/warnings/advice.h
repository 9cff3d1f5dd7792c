#pragma once

#include <span>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan_rows.h"

namespace outrider::lab {

/// Returns what the arms set that is valid but was measured to gain nothing or to slow bursts down,
/// once an arm: the label, and the setting with the reason.
ConfigIssues advice(std::span<const Case> cases);

/// Returns what in the file has no effect: groups of hosts that neither a job nor background uses,
/// background that sends nothing, a measured queue that its data or bursts do not cross, and
/// parameters that do nothing beside others; and arms whose markers treat Not-ECT packets
/// differently by default.
ConfigIssues advice(const ExperimentFile& experiment);

// The parts of the second one that have files of their own. The rows are those of the experiment.

/// Returns why no arm meets background although the experiment has a [background], and why the
/// measured queue shows none of it or none of the bursts.
ConfigIssues background_advice(const ExperimentFile& experiment, std::span<const PlannedRow> rows);

/// Returns the remedies whose `against` is absent, and which are compared with a baseline of other
/// queues or another transport although one at their point differs in the remedy alone. Arms of a
/// base or of rivals are left out.
ConfigIssues baseline_advice(const ExperimentFile& experiment, std::span<const PlannedRow> rows);

/// Returns the parameters and settings of the programs to which the file gives another value than
/// the default, and which do less than they say in all rows with that value. They do nothing, such
/// as a weight of queues without two queues or the length of bursts beside a model; or a setting
/// that the file inherits stays beside them, such as the controller of bursts beside one of all
/// transports. Once a value, by the place that gives it. What a base or rivals give is left out.
ConfigIssues idle_parameters(const ExperimentFile& experiment, std::span<const PlannedRow> rows);

}  // namespace outrider::lab
