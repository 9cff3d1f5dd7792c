#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_result.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

struct PlanOptions {
  std::uint64_t first_seed = 1;
  std::optional<std::uint32_t> seeds{};  ///< absent: the experiment's number
  std::string filter{};                  ///< only cases whose name contains this text; empty: all
  /// Labels of the arms to plan; what they are compared with is planned in any case.
  /// Empty: all.
  std::vector<std::string> arms{};
  /// Plans one seed of each arm at the first point, with at most one iteration that is not
  /// measured and two that are. This only shows that the experiment runs.
  bool quick = false;

  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

/// Returns every case of the experiment, ordered by point of the matrix, arm and
/// seed. A point that changes nothing for an arm (a regulator's parameter for an
/// off arm) adds no second case of that arm. Pure, except that it reads the models
/// to check that they exist.
///
/// Issues name the arm, and the sweep, whose configuration is not valid.
ConfigResult<std::vector<Case>> make_plan(const ExperimentFile& experiment,
                                          const PlanOptions& options = {});

/// Plans the same cases, and keeps none: a case of thousands of hosts takes tens of megabytes.
/// Calls `take` for each arm at each point, with the case of its first seed and the names of those
/// of all seeds that the filter lets through, at least one. Case by case, faults are those of
/// make_plan().
ConfigIssues walk_plan(
    const ExperimentFile& experiment, const PlanOptions& options,
    const std::function<void(const Case& first, std::vector<std::string> names)>& take);

/// Returns the name of a case for progress, lists and filters: its label and the
/// parameters that its point changes, "on tcp=cubic seed 3".
std::string case_name(const ExperimentFile& experiment, const Case& c);

/// Builds one case from resolved parameters: its topology and both configurations.
/// @param issues faults by the key of the experiment, or of a generated configuration
/// @return nothing if there is a fault
std::optional<Case> build_case(const ExperimentFile& experiment, const std::string& label,
                               const CaseParameters& parameters, std::uint64_t seed,
                               ConfigIssues& issues);

/// Returns the same case without background and without the time that the job waits
/// for background. It measures communication when the job has the network to itself.
Case without_background(const Case& c);

/// Returns the same case without background and with one job alone.
/// @pre job < c.traffic.jobs.size()
Case with_job_alone(const Case& c, std::size_t job);

}  // namespace outrider::lab
