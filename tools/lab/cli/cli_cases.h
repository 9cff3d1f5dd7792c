#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/lab/cli/cli.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/run/results_lock.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/run/run_store.h"
#include "tools/lab/summary/earlier_results.h"
#include "tools/lab/summary/finished_runs.h"

namespace outrider::lab {

/// Prints a line to stderr, which gets everything that is not a result.
void say(const std::string& text);

/// Checks before the first run that results can be written to `directory`. @return whether they
/// can; if not, a message has been printed
bool prepare(const std::filesystem::path& directory);

/// Locks the directory of results, and checks that nothing in it would be lost.
/// @return nothing if something would; a message has said what. @throws EnvironmentError naming who
/// holds the directory
std::unique_ptr<ResultsLock> take(const std::filesystem::path& directory, const LabOptions& options,
                                  const ResultsScope& planned);

/// Returns what the results of these cases have.
ResultsScope scope_of(const std::string& experiment, Runtime runtime,
                      const std::vector<Case>& cases);

/// The cases of a session, how to run them, and where finished runs are kept.
struct CaseSession {
  std::string name;                       ///< name of the experiment, for the progress line
  const std::vector<Case>& cases;         ///< must outlive its runs
  const std::vector<std::string>& names;  ///< [cases]
  Runtime runtime;
  const RunStore& store;
  std::function<RunOutcome(const RunOrder&)> run;  ///< the runtime's; gets one case or more
  ReferenceRuns references = ReferenceRuns::kOfAll;
};

/// Says how many finished runs a store has, where, and how much of the disk they take.
std::string store_text(const RunStore& store);

/// Loads the runs that an interrupted session has finished of the wanted cases, and runs the rest.
/// Adds all of them to `runs`, one at a time. A run that cannot be kept on disk does not end the
/// session, see RunOutcome::not_kept. @throws EnvironmentError
RunOutcome run_session(const CaseSession& session, const std::vector<std::size_t>& wanted,
                       FinishedRuns& runs);

/// Judges whether the runs prove anything: every packet is accounted for, and all traffic that was
/// asked for was offered. If not, messages have named the cases.
/// @return kExitOk, kExitLedger or kExitFailure
int verdict_of(const FinishedRuns& runs, const std::vector<std::string>& names,
               const std::vector<Case>& cases);

/// Returns what reads the reports of a run by its place among the digests of `runs`, which must
/// outlive it.
ReadRun reader_of(const FinishedRuns& runs);

/// Prints the cases that failed, and whether finished ones could not be kept on disk.
void tell_failures(const RunOutcome& outcome);

/// Returns the exit status for an outcome. @param verdict result of verdict_of()
int status_of(const RunOutcome& outcome, int verdict);

}  // namespace outrider::lab
