#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_result.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

struct PlanOptions {
  std::uint64_t first_seed = 1;
  std::optional<std::uint32_t> seeds{};  ///< absent: what the experiment says
  std::string filter{};                  ///< only cases whose name holds this text; empty: all
  /// One seed of each arm at the first point, and of its iterations at most one that is not
  /// measured and two that are: shows that the experiment runs.
  bool quick = false;
};

/// Every case of the experiment: for each point of the matrix, each arm, each
/// seed, in this order. A point that changes nothing for an arm (a regulator's
/// parameter for an off arm) makes no second case of it. Pure, but for the
/// models that are read to see that they are there.
///
/// Issues name the arm, and the sweep, whose configuration is not valid.
ConfigResult<std::vector<Case>> make_plan(const ExperimentFile& experiment,
                                          const PlanOptions& options = {});

/// What a case is called in progress, lists and filters: the label and the
/// parameters that its point changes, "on tcp=cubic seed 3".
std::string case_name(const ExperimentFile& experiment, const Case& c);

/// Resolved parameters to one case: topology, both configurations.
/// @param issues faults by the key of the experiment, or of a generated configuration
std::optional<Case> build_case(const ExperimentFile& experiment, const std::string& label,
                               const CaseParameters& parameters, std::uint64_t seed,
                               ConfigIssues& issues);

/// The same case without background, which the job then need not wait for: what
/// communication takes when the network is the job's alone.
Case without_background(const Case& c);

}  // namespace outrider::lab
