#include <algorithm>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_queue.h"
#include "tools/lab/cli/cli_results.h"
#include "tools/lab/queue/case_queue.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// Returns the outcome of a session whose cases have been run by workers.
/// @param missing  indices of the cases that have no finished run
RunOutcome outcome_of(const OpenQueue& queue, const std::vector<std::size_t>& missing) {
  const CaseQueue tickets(queue.directory, {}, queue.manifest.rules);
  RunOutcome outcome;
  const auto failed = tickets.failed();
  const auto with_tickets = tickets.with_tickets();
  for (const std::size_t i : missing) {
    const auto ticket = std::ranges::find(failed, i, &Ticket::index);
    if (ticket != failed.end())
      outcome.failures.push_back({queue.planned.names[i], tickets.history(*ticket)});
    else outcome.interrupted = true;
    // Its run or its ticket was lost with a disk. A ticket too many costs time alone.
    if (!with_tickets.contains(i)) tickets.add(i, queue.planned.names[i]);
  }
  return outcome;
}

void tell_damaged(const fs::path& run) {
  say("outrider-lab: " + run.string() + " is damaged; its case is run again");
}

/// Says how far a queue is that is not done.
void tell_progress(const LabOptions& options, const OpenQueue& queue, std::size_t there) {
  const auto counts = CaseQueue(queue.directory, {}, queue.manifest.rules).counts();
  say("outrider-lab: --queue " + options.queue + ": " + std::to_string(there) + " of " +
      std::to_string(queue.planned.cases.size()) + " cases are done, " +
      std::to_string(counts.running) + " are running, " + std::to_string(counts.todo) +
      " wait and " + std::to_string(counts.failed) + " failed; start workers, or wait for them" +
      (options.partial ? "" : ", or write what there is with --partial"));
}

}  // namespace

int collect_command(const LabOptions& options) {
  const fs::path here = fs::current_path();
  const auto queue = open_queue(options.queue);
  if (!queue) return kExitUsage;
  const auto& [file, cases, names] = queue->planned;
  const Experiment experiment{.name = file.name,
                              .runtime = Runtime::kVirtual,
                              .planned_cases = cases.size(),
                              .question = file.question,
                              .quick = queue->manifest.plan.quick};
  LabOptions own = options;
  own.file = queue->manifest.given;
  own.quick = experiment.quick;
  const RunStore store = store_of(*queue, {});
  FinishedRuns runs(store, Runtime::kVirtual);
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto stored = store.load(cases[i], Runtime::kVirtual);
    if (stored.text) runs.add(deserialize(cases[i], *stored.text), true);
    else missing.push_back(i);
    if (stored.damaged) tell_damaged(*stored.damaged);
  }
  const RunOutcome outcome = outcome_of(*queue, missing);
  if (outcome.interrupted) tell_progress(options, *queue, cases.size() - missing.size());
  if (outcome.interrupted && !options.partial) return kExitFailure;
  const fs::path directory = here / directory_of(own, file.name);
  if (!prepare(directory)) return kExitUsage;
  const auto lock = take(directory, own, scope_of(file.name, Runtime::kVirtual, cases));
  if (!lock) return kExitUsage;
  const ShownResults shown = show_results(own, experiment, outcome, runs, cases, names, directory);
  if (shown.written) say("outrider-lab: results are in " + directory.string());
  return shown.status;
}

}  // namespace outrider::lab
