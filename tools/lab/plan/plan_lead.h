#pragma once

#include "common/core/window_lead.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/topology.h"

namespace outrider::lab {

/// Returns what the rule of windows says about the measured link, given what the experiment knows:
/// rate and round trip, the greatest standing queue that marker and limit allow, h, and the long
/// flows. Flows of a size distribution come and go: they count as one.
WindowLead lead_by_rule(const ExperimentFile& experiment, const CaseParameters& parameters,
                        const ProgramSettings& settings, const Topology& topology);

/// Returns the lead of STARTs: `lead_rtts`; if it is "auto", what the rule says where windows are
/// held, and elsewhere one round trip, as the PCN paper has it.
Duration planned_lead(const ExperimentFile& experiment, const CaseParameters& parameters,
                      const ProgramSettings& settings, const Topology& topology);

}  // namespace outrider::lab
