#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/run_cases.h"

namespace outrider {

/// Runs every case between two real processes, outrider-switch and
/// outrider-trafficgen from the directory of this program, one after another.
/// Configurations, reports and logs of the two are left in `directory`/loopback.
/// A case cut short by a stop signal is kept, marked as interrupted.
/// @param cases must outlive the outcome
/// @throws EnvironmentError if a program is missing or there are fewer than two CPUs
RunOutcome run_cases_loopback(const std::vector<Case>& cases, const std::vector<std::string>& names,
                              const std::filesystem::path& directory, const Progress& progress);

}  // namespace outrider
