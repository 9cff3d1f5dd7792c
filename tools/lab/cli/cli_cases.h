#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/lab/run/run_cases.h"
#include "tools/lab/run/run_store.h"

namespace outrider::lab {

/// To stderr, as everything that is no result.
void say(const std::string& text);

/// Before the first run, not after the last: @return whether results can be written, else it
/// was said why not
bool prepare(const std::filesystem::path& directory);

/// What is to be run, and where its results are kept.
struct CaseSession {
  std::string name;                       ///< of the experiment, for the progress line
  const std::vector<Case>& cases;         ///< must outlive the outcome
  const std::vector<std::string>& names;  ///< [cases]
  Runtime runtime;
  const RunStore& store;
  std::function<RunOutcome(const RunOrder&)> run;  ///< by the runtime; of one case at least
};

/// Takes up what an interrupted session has left of the wanted cases, and runs the rest. Runs
/// are in the order of the cases. @throws EnvironmentError
RunOutcome run_session(const CaseSession& session, const std::vector<std::size_t>& wanted);

/// Every packet of every run has a named end, else it was said whose has not.
bool balanced(const RunOutcome& outcome, const std::vector<std::string>& names,
              const std::vector<Case>& cases);

/// Of runs that were made. @param ledger all of them balance
int status_of(const RunOutcome& outcome, bool ledger);

}  // namespace outrider::lab
