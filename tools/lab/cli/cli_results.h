#pragma once

#include <filesystem>
#include <string>

#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Returns the directory of the results. Those of real time are not in the place of those that
/// virtual time can make again.
std::filesystem::path directory_of(const LabOptions& options, const std::string& name);

/// How a session's results were written and shown.
struct ShownResults {
  int status = 0;            ///< exit status of the session
  bool written = false;      ///< if not, a message has said why
  std::size_t complete = 0;  ///< cases in the results
};

/// Ends a session: names what failed, writes the results into `directory` unless that would lose
/// earlier ones, and prints them.
ShownResults show_results(const LabOptions& options, const Experiment& experiment,
                          const RunOutcome& outcome, const FinishedRuns& runs,
                          const std::vector<Case>& cases, const std::vector<std::string>& names,
                          const std::filesystem::path& directory);

}  // namespace outrider::lab
