#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider::lab {

struct Planned {
  ExperimentFile file;
  std::vector<Case> cases;
  std::vector<std::string> names;  ///< [cases]
  ConfigIssues advised{};          ///< what is valid, but hardly meant
};

PlanOptions plan_options(const LabOptions& options);

/// Loads an experiment and plans its cases. @return nothing, after printing a message, on a fault
/// @param speaks  false: of several ranks, another prints it
/// @param other   the network in the place of its own, see LabOptions::other_fabric
std::optional<Planned> plan_cases(const std::string& path, const PlanOptions& options,
                                  bool speaks = true, const OtherFabric* other = nullptr);

/// Does the same for the experiment of a command line, and prints what there is to advise.
std::optional<Planned> load(const LabOptions& options, bool speaks = true);

/// Returns in words how long the cases of an experiment take on this machine, after trying one for
/// a moment; empty if nobody can tell. Prints nothing.
std::string time_needed(const std::string& path, const PlanOptions& options);

}  // namespace outrider::lab
