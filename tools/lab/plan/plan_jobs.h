#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/core/signal_key.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/topology.h"
#include "trafficgen/config/config.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::lab {

/// Returns the name of the file that has the key of the j-th job, for its hosts and the switches.
std::string signal_key_file(std::size_t j);

/// Returns a key for each job that signs, by the name of its key file. Its secret follows from the
/// seed: it is for virtual time, where nobody has to be kept out. The id is the job's number.
std::map<std::string, SignalKey> virtual_signal_keys(const tg::GeneratorConfig& traffic);

/// Returns the names of a group's hosts, in order: all, or those at one switch.
std::vector<std::string> names_of(const ExperimentFile& experiment, const Topology& topology,
                                  const std::string& group,
                                  std::optional<std::size_t> at_switch = {});

/// Returns the switches of a fabric that have places for hosts, in order.
std::vector<std::size_t> racks_of(const ExperimentFile& experiment);

/// Checks that the racks between which a matrix has background have hosts for it.
void check_racks(const Checks& at, const ExperimentFile& experiment,
                 const CaseParameters& parameters, const Topology& topology);

/// Checks [job] of the file against the parameters `placement`, `servers`, `workers` and
/// `jobs`.
void check_placement(const Checks& at, const ExperimentFile& experiment,
                     const CaseParameters& parameters);

/// Returns all jobs of a case. Each is a copy of `like` with its own name, hosts, port and
/// start.
///
/// If jobs have their own hosts, job j gets the j-th `workers` hosts of the workers' group and
/// the j-th `servers` hosts of the servers' group. On shared hosts `placement` gives its server,
/// and its workers are on the hosts after that one, in a circle.
///
/// A ring's workers are the hosts of its groups, one of each group in turn while it has any left.
///
/// Job j starts at j x job_offset x the time of an iteration. This time is the period of a fixed
/// schedule. In a closed loop it is the time of an iteration on the empty measured link:
/// computing, then the bytes of all workers in one direction, then those in the other.
std::vector<tg::JobConfig> plan_jobs(const ExperimentFile& experiment,
                                     const CaseParameters& parameters, const Topology& topology,
                                     const tg::JobConfig& like);

}  // namespace outrider::lab
