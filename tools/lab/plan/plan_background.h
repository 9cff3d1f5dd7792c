#pragma once

#include "common/core/config_issue.h"
#include "tools/lab/experiment/background_group.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/topology.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// Adds the transports of background: that of each group, or those of the shorthand.
void add_background_transports(const ExperimentFile& experiment, const CaseParameters& parameters,
                               tg::GeneratorConfig& config);

/// Adds the rows of each group of background.
void add_background(const ExperimentFile& experiment, const CaseParameters& parameters,
                    const Topology& topology, tg::GeneratorConfig& config);

/// Returns the long flows of groups whose data cross the measured queue; without groups, those
/// from senders to receivers, which do.
std::uint32_t background_flows_of(const ExperimentFile& experiment,
                                  const CaseParameters& parameters, const Topology& topology,
                                  const tg::GeneratorConfig& traffic);

/// Names the faults of rows and transports that a group has by the keys of that group.
void name_by_groups(const CaseParameters& parameters, const tg::GeneratorConfig& traffic,
                    ConfigIssues& issues);

}  // namespace outrider::lab
