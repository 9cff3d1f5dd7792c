#pragma once

#include <string>
#include <vector>

#include "common/config/checks.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/topology.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::lab {

/// Hosts of a group, by name, in order.
std::vector<std::string> names_of(const ExperimentFile& experiment, const Topology& topology,
                                  const std::string& group);

/// Senders of background, or receivers: receivers among the jobs' hosts are the first ones.
std::vector<std::string> background_from(const ExperimentFile& experiment,
                                         const Topology& topology);
std::vector<std::string> background_to(const ExperimentFile& experiment, const Topology& topology);

/// What the file's [job] and the parameters `placement`, `servers`, `workers` and `jobs` ask of
/// each other.
void check_placement(const Checks& at, const ExperimentFile& experiment,
                     const CaseParameters& parameters);

/// All jobs of a case: `like` with a name, hosts, a port and a start of its own each.
///
/// On hosts of their own, job j has the j-th `workers` hosts of the workers' group and the
/// j-th `servers` of the other. On shared hosts its server is where `placement` says, and its
/// workers are on the hosts after that one, in a circle.
///
/// A ring's workers are the hosts of its groups, one of each in turn as long as they have any.
///
/// Job j starts at j x job_offset x the time of an iteration: the period of a fixed schedule,
/// or in a closed loop what an iteration would take on the empty measured link, computing and
/// the bytes of all workers in each direction one after the other.
std::vector<tg::JobConfig> plan_jobs(const ExperimentFile& experiment,
                                     const CaseParameters& parameters, const Topology& topology,
                                     const tg::JobConfig& like);

}  // namespace outrider::lab
