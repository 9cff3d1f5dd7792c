#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/run/run_cases.h"

namespace outrider::lab {

/// Runs the wanted cases one after another between two real processes, outrider-switch
/// and outrider-trafficgen from the directory of this program. Leaves configurations,
/// reports and logs of the two in `directory`/loopback.
/// A case cut short by a stop signal is kept, marked as interrupted.
/// @throws EnvironmentError if a program is missing or there are fewer than two CPUs
RunOutcome run_cases_loopback(const RunOrder& order, const std::filesystem::path& directory);

}  // namespace outrider::lab
