#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/lab/case.h"
#include "tools/lab/summary.h"

namespace outrider {

struct RunFailure {
  std::string name;  ///< of the case
  std::string cause;
};

/// The runs that were made, whole or (loopback) cut short, in the order of the plan.
struct RunOutcome {
  std::vector<CaseRun> runs;
  std::vector<RunFailure> failures;
  bool interrupted = false;
};

/// Called as cases end. @param left_seconds estimate; negative: not known yet
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// Runs every case, and its reference without background, in virtual time on
/// `jobs` processes. The outcome does not depend on their number.
/// @param cases must outlive the outcome
/// @throws EnvironmentError
RunOutcome run_cases_virtual(const std::vector<Case>& cases, const std::vector<std::string>& names,
                             std::size_t jobs, const Progress& progress);

/// The text form of a run, from a worker process to its parent.
std::string serialize(const CaseRun& run);
/// @throws std::runtime_error
CaseRun deserialize(const Case& definition, const std::string& text);

}  // namespace outrider
