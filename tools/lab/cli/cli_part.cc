#include "tools/lab/cli/cli_part.h"

#include <filesystem>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "tools/lab/run/part_manifest.h"
#include "tools/lab/run/results_lock.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// Returns why a directory cannot be that of this part, as a clause on it; empty if it can.
std::string taken_by(const fs::path& directory, const PartManifest& wanted, const RunStore& store) {
  if (!has_part(directory))
    return store.size().files == 0 ? "" : "has finished runs of a session without --case";
  const PartManifest there = read_part(directory);
  if (const auto other = difference(wanted, there)) return "has a part that " + *other;
  return there.part == wanted.part ? "" : "has part " + to_text(there.part);
}

/// Makes the directory that of the part. @return whether it is; if not, a message has said why
bool claim(const LabOptions& options, const PartManifest& wanted, const RunStore& store) {
  const fs::path directory = options.out;
  const std::string taken = taken_by(directory, wanted, store);
  if (!taken.empty() && !options.force) {
    say("outrider-lab: --out " + options.out + " " + taken +
        "; name another directory, or replace it with --force");
    return false;
  }
  if (!taken.empty() || options.fresh) store.clear();
  write_part(directory, wanted);
  return true;
}

void tell_end(const LabOptions& options, const RunOutcome& outcome, std::size_t finished,
              std::size_t all) {
  const std::string part = "part " + to_text(*options.part);
  if (finished == all)
    return say("outrider-lab: " + part + " is finished: " + std::to_string(finished) + " of " +
               std::to_string(all) + " cases are in " + options.out +
               "; `outrider-lab merge DIR...` joins all parts");
  say("outrider-lab: " + std::string(outcome.interrupted ? "interrupted: " : "") +
      std::to_string(finished) + " of the " + std::to_string(all) + " cases of " + part +
      " are finished; the same command goes on with the rest");
}

}  // namespace

std::string no_part_for(const LabOptions& options, std::size_t cases) {
  if (!options.part) return {};
  const std::string option = "--case " + to_text(*options.part);
  if (options.runtime != Runtime::kVirtual)
    return option + " is for virtual time alone: real processes need their machine to themselves";
  if (options.out.empty()) return option + " needs --out DIR: each part has a directory of its own";
  if (options.json || options.brief)
    return option + ": a part prints no results; give --json or --brief to `outrider-lab merge`";
  if (options.part->of > cases)
    return option + ": N must be at most the number of cases, which is " + std::to_string(cases);
  return {};
}

int run_part(const LabOptions& options, const Planned& planned, const CaseSession& session) {
  const ResultsLock lock(options.out,
                         "outrider-lab run " + options.file + " --case " + to_text(*options.part));
  const PartManifest manifest{.part = *options.part,
                              .program = program_identity(),
                              .file = options.file,
                              .plan = plan_options(options),
                              .references = options.references,
                              .cases = planned.cases.size(),
                              .fingerprint = plan_fingerprint(planned.cases)};
  if (!claim(options, manifest, session.store)) return kExitUsage;
  const auto own = cases_of(*options.part, planned.cases.size());
  FinishedRuns runs(session.runtime);
  const RunOutcome outcome = run_session(session, own, runs);
  tell_failures(outcome);
  const int status = status_of(outcome, verdict_of(runs, planned.names, planned.cases));
  tell_end(options, outcome, runs.digests().size() - outcome.not_kept.size(), own.size());
  return status;
}

}  // namespace outrider::lab
