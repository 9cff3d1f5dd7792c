#pragma once

#include <filesystem>
#include <functional>

#include "tools/lab/plan/testbed.h"
#include "tools/lab/run/run_cases.h"

namespace outrider::lab {

/// Runs the cases that are wanted between two real processes, one after another.
/// Configurations, reports and logs of the two are left in `directory`, a folder for each
/// case. A case cut short by a stop signal is kept, marked as interrupted; one in which a
/// program died is a failure that says which.
/// @param testbed_of  devices and places for a case; called anew for each run
/// @throws EnvironmentError if a program is missing
RunOutcome run_cases_between(const RunOrder& order, const std::filesystem::path& directory,
                             const std::function<Testbed(const Case&)>& testbed_of);

/// On the devices of a testbed, the programs started here or through its remote shell.
RunOutcome run_cases_testbed(const RunOrder& order, const std::filesystem::path& directory,
                             const Testbed& testbed);

}  // namespace outrider::lab
