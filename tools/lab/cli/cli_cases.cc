#include "tools/lab/cli/cli_cases.h"

#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/progress.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/run/part_manifest.h"

namespace outrider::lab {
void say(const std::string& text) { std::fputs((text + '\n').c_str(), stderr); }

bool prepare(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const std::string why = error ? error.message() : why_no_bundle(directory);
  if (why.empty()) return true;
  say("outrider-lab: --out " + directory.string() + ": " + why + "; name another directory");
  return false;
}

std::unique_ptr<ResultsLock> take(const std::filesystem::path& directory, const LabOptions& options,
                                  const ResultsScope& planned) {
  auto lock = std::make_unique<ResultsLock>(
      directory, std::string("outrider-lab ") + options.command.name + ' ' + options.file);
  remove_partial_files(directory);
  if (options.force) {
    remove_part(directory);
    return lock;
  }
  const auto lost = has_part(directory) ? "has a part of the cases of an experiment"
                                        : lost_results(directory, planned);
  if (!lost) return lock;
  say("outrider-lab: --out " + directory.string() + " " + *lost +
      "; name another directory, or replace it with --force");
  return nullptr;
}

ResultsScope scope_of(const std::string& experiment, Runtime runtime,
                      const std::vector<Case>& cases) {
  ResultsScope scope{experiment, name_of(runtime), {}, cases.size()};
  for (const auto& c : cases) scope.seeds.insert(c.seed);
  return scope;
}

namespace {

std::string size_text(std::uintmax_t bytes) {
  constexpr double kMega = 1e6;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / kMega);
  return text;
}

/// Loads a case that an earlier session has finished. A damaged file is named, and the case is run
/// again.
/// @param damaged  counts such files
std::optional<CaseRun> stored_run(const CaseSession& s, std::size_t i, std::size_t& damaged) {
  const auto stored = s.store.load(s.cases[i], s.runtime);
  if (stored.damaged) {
    ++damaged;
    say("outrider-lab: " + stored.damaged->string() + " is damaged; \"" + s.names[i] +
        "\" is run again");
  }
  if (!stored.text) return std::nullopt;
  CaseRun run = deserialize(s.cases[i], *stored.text);
  // A session that wanted fewer references has left it.
  if (!run.alone && needs_reference(s.references, s.cases[i])) return std::nullopt;
  return run;
}

}  // namespace

std::string store_text(const RunStore& store) {
  const auto [files, bytes] = store.size();
  return store.directory().string() + " has " + std::to_string(files) + " finished runs, " +
         size_text(bytes);
}

RunOutcome run_session(const CaseSession& s, const std::vector<std::size_t>& wanted,
                       FinishedRuns& runs) {
  ProgressLine line("outrider-lab: " + s.name);
  std::vector<std::string> not_kept;
  const auto keep = [&](std::size_t i, CaseRun run, const std::string& text) {
    const RunStore* store = nullptr;
    try {
      if (!text.empty()) s.store.save(s.cases[i], s.runtime, text);
      if (!text.empty()) store = &s.store;
    } catch (const std::runtime_error& error) {
      not_kept.push_back("\"" + s.names[i] + "\": " + error.what());
    }
    runs.add(std::move(run), store);
  };
  RunOrder order{
      .cases = s.cases,
      .names = s.names,
      .wanted = {},
      .progress = [&line](std::size_t done, std::size_t total) { line.show(done, total); },
      .on_run = keep,
      .references = s.references};
  const std::size_t before = runs.digests().size();  // of earlier rounds of this command
  std::size_t there = 0, damaged = 0;
  for (const std::size_t i : wanted) {
    if (auto run = stored_run(s, i, damaged)) {
      runs.add(std::move(*run), &s.store);
      ++there;
    } else {
      order.wanted.push_back(i);
    }
  }
  if (there > 0)
    say("outrider-lab: " + std::to_string(there) + " of " + std::to_string(wanted.size()) +
        " cases are there already (--fresh runs all)");
  const std::size_t known = before + there + damaged;
  if (const std::size_t files = s.store.size().files; files > known)
    say("outrider-lab: " + store_text(s.store) + "; " + std::to_string(files - known) +
        " of them are not of this command: another program, configuration or seed");
  RunOutcome outcome;
  if (!order.wanted.empty()) outcome = s.run(order);
  outcome.not_kept = std::move(not_kept);
  outcome.loaded = there;
  return outcome;
}

int verdict_of(const FinishedRuns& runs, const std::vector<std::string>& names,
               const std::vector<Case>& cases) {
  bool ledger = true, offered = true;
  for (const RunDigest* d : runs.digests()) {
    const std::string name =
        '"' + names[static_cast<std::size_t>(d->definition - cases.data())] + '"';
    for (const auto& fault : d->unbalanced) {
      ledger = false;
      say("outrider-lab: packets are not accounted for in " + name + ' ' + fault);
    }
    for (const auto& fault : d->not_offered) {
      offered = false;
      say("outrider-lab: " + name +
          " had less background than was asked for, so do not use it: " + fault);
    }
  }
  if (!ledger) return kExitLedger;
  return offered ? kExitOk : kExitFailure;
}

ReadRun reader_of(const FinishedRuns& runs) {
  return [&runs, digests = runs.digests()](std::size_t i) {
    return runs.read(*digests[i]->definition);
  };
}

int status_of(const RunOutcome& outcome, int verdict) {
  if (outcome.interrupted) return kExitInterrupted;
  if (verdict != kExitOk) return verdict;
  return outcome.failures.empty() && outcome.not_kept.empty() ? kExitOk : kExitFailure;
}

void tell_failures(const RunOutcome& outcome) {
  for (const auto& failure : outcome.failures)
    say("outrider-lab: \"" + failure.name + "\": " + failure.cause);
  if (outcome.not_tried != 0)
    say("outrider-lab: " + std::to_string(outcome.not_tried) +
        " further cases were not tried: they would meet the same cause. Remove it; the same "
        "command "
        "then runs them");
  if (outcome.not_kept.empty()) return;
  say("outrider-lab: " + std::to_string(outcome.not_kept.size()) +
      " finished runs could not be kept for a later session; the first: " +
      outcome.not_kept.front());
}

}  // namespace outrider::lab
