#pragma once

#include <cstddef>
#include <string>

#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_plan.h"

namespace outrider::lab {

/// Returns why the cases cannot be run in the part that --case names; empty if they can, or if
/// there is no --case.
std::string no_part_for(const LabOptions& options, std::size_t cases);

/// Runs the part of the cases that --case names, and leaves its finished runs for
/// `outrider-lab merge`. @param session  of all cases. @pre no_part_for() is empty
/// @return exit status
int run_part(const LabOptions& options, const Planned& planned, const CaseSession& session);

}  // namespace outrider::lab
