#include "tools/lab/cli/cli_results.h"

#include <rte_version.h>

#include <cstdio>
#include <stdexcept>

#include "common/telemetry/exit_status.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/tables/brief_text.h"
#include "tools/lab/tables/results_answer.h"

namespace outrider::lab {
namespace {

/// Writes all files of the results. @return whether they could be written; if not, a message has
/// named the file, and the caller still has the results to show
bool write_results(const std::filesystem::path& directory, const FinishedRuns& runs,
                   const Summary& summary, const std::string& file) {
  try {
    write_bundle(directory, summary, reader_of(runs),
                 {{"dpdk", rte_version()}, {"experiment_file", file}});
    write_report_of_run(directory);
    return true;
  } catch (const std::runtime_error& error) {
    say(std::string("outrider-lab: the results are not complete: ") + error.what());
    return false;
  }
}

/// Returns whether the results of a session that was cut short, or in which cases failed, have as
/// much as those in their place. If not, a message has said so.
bool replaces(const std::filesystem::path& directory, const Experiment& experiment,
              const FinishedRuns& runs) {
  const auto digests = runs.digests();
  ResultsScope made{experiment.name, name_of(experiment.runtime), {}, digests.size()};
  for (const RunDigest* digest : digests) made.seeds.insert(digest->definition->seed);
  const auto lost = lost_results(directory, made);
  if (lost) say("outrider-lab: " + directory.string() + " keeps its earlier results: it " + *lost);
  return !lost;
}

}  // namespace

std::filesystem::path directory_of(const LabOptions& options, const std::string& name) {
  if (!options.out.empty()) return options.out;
  std::string own = name + (options.quick ? "-quick" : "");
  if (options.runtime != Runtime::kVirtual) own += std::string("-") + name_of(options.runtime);
  return std::filesystem::path("results") / own;
}

ShownResults show_results(const LabOptions& options, const Experiment& experiment,
                          const RunOutcome& outcome, const FinishedRuns& runs,
                          const std::vector<Case>& cases, const std::vector<std::string>& names,
                          const std::filesystem::path& directory) {
  tell_failures(outcome);
  ShownResults shown{.status = status_of(outcome, verdict_of(runs, names, cases))};
  const Summary summary = summarise(experiment, runs.digests());
  shown.complete = summary.cases.size();
  shown.written = (options.force || replaces(directory, experiment, runs)) &&
                  write_results(directory, runs, summary, options.file);
  if (!options.quiet)
    std::fputs((options.json    ? to_json(summary)
                : options.brief ? brief_text(summary)
                                : result_text(summary))
                   .c_str(),
               stdout);
  std::fflush(stdout);
  if (!shown.written && shown.status == kExitOk) shown.status = kExitFailure;
  return shown;
}

}  // namespace outrider::lab
