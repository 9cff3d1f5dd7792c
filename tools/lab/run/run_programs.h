#pragma once

#include <filesystem>
#include <functional>

#include "tools/lab/plan/testbed.h"
#include "tools/lab/run/run_cases.h"

namespace outrider::lab {

/// Runs the wanted cases one after another between two real processes. Leaves their
/// configurations, reports and logs in `directory`, in one folder per case. A case cut short
/// by a stop signal is kept and marked as interrupted. If a program died, the case is a
/// failure that names the program. If a device, a cable or a peer is to blame for the first case,
/// or for two in a row, the others are not tried.
/// @param testbed_of  returns devices and places for a case; is called again for each run
/// @throws EnvironmentError if a program is missing
RunOutcome run_cases_between(const RunOrder& order, const std::filesystem::path& directory,
                             const std::function<Testbed(const Case&)>& testbed_of);

/// Does the same on the devices of a testbed. The programs are started on this machine or
/// through the testbed's remote shell.
RunOutcome run_cases_testbed(const RunOrder& order, const std::filesystem::path& directory,
                             const Testbed& testbed);

}  // namespace outrider::lab
