#include <rte_version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "tools/lab/bundle.h"
#include "tools/lab/cli.h"
#include "tools/lab/plan.h"
#include "tools/lab/progress.h"
#include "tools/lab/run_cases.h"
#include "tools/lab/run_loopback.h"
#include "tools/lab/run_pool.h"
#include "tools/lab/run_store.h"
#include "tools/lab/summary.h"
#include "tools/lab/time_estimate.h"

namespace outrider {
namespace {

void say(const std::string& text) { std::fputs((text + '\n').c_str(), stderr); }

struct Planned {
  ExperimentFile file;
  std::vector<Case> cases;
  std::vector<std::string> names;
};

/// @return nothing if something is wrong, which was printed
std::optional<Planned> load(const LabOptions& options) {
  auto file = load_experiment(options.file);
  if (!file) {
    std::fputs(format_issues(options.file, file.issues).c_str(), stderr);
    return std::nullopt;
  }
  auto plan = make_plan(
      *file.config,
      {.first_seed = options.first_seed, .seeds = options.seeds, .filter = options.filter});
  if (!plan) {
    std::fputs(format_issues(options.file, plan.issues).c_str(), stderr);
    return std::nullopt;
  }
  Planned planned{std::move(*file.config), std::move(*plan.config), {}};
  if (planned.cases.empty()) {
    say("outrider-lab: no case's name holds \"" + options.filter +
        "\"; `outrider-lab plan` lists them");
    return std::nullopt;
  }
  for (const auto& c : planned.cases) planned.names.push_back(case_name(planned.file, c));
  return planned;
}

/// Before the first run, not after the last: @return whether results can be written
bool prepare(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error && access(directory.c_str(), W_OK | X_OK) == 0) return true;
  say("outrider-lab: --out " + directory.string() + ": " +
      (error ? error.message() : std::string("no permission to write")) +
      "; name another directory");
  return false;
}

RunOutcome run_order(const LabOptions& options, const RunOrder& order,
                     const std::filesystem::path& directory) {
  if (order.wanted.empty()) return {};
  if (options.runtime == Runtime::kLoopback) return run_cases_loopback(order, directory);
  return run_cases_virtual(order, options.jobs != 0 ? options.jobs : usable_cpus().size());
}

/// Takes up what an interrupted session has left, and runs the rest.
RunOutcome run_cases(const LabOptions& options, const Planned& planned,
                     const std::filesystem::path& directory, const RunStore& store) {
  std::vector<CaseRun> kept;
  ProgressLine line("outrider-lab: " + planned.file.name);
  RunOrder order{
      .cases = planned.cases,
      .names = planned.names,
      .wanted = {},
      .progress = [&line](std::size_t done, std::size_t total) { line.show(done, total); },
      .on_run =
          [&](std::size_t i, const std::string& text) {
            store.save(planned.cases[i], options.runtime, text);
          }};
  for (std::size_t i = 0; i < planned.cases.size(); ++i) {
    const auto text = store.load(planned.cases[i], options.runtime);
    if (text) kept.push_back(deserialize(planned.cases[i], *text));
    else order.wanted.push_back(i);
  }
  if (!kept.empty())
    say("outrider-lab: " + std::to_string(kept.size()) + " of " +
        std::to_string(planned.cases.size()) + " cases are there already (--fresh runs all)");
  RunOutcome outcome = run_order(options, order, directory);
  std::ranges::move(kept, std::back_inserter(outcome.runs));
  std::ranges::sort(outcome.runs, {}, &CaseRun::definition);
  return outcome;
}

bool balanced(const RunOutcome& outcome, const std::vector<std::string>& names,
              const std::vector<Case>& cases) {
  bool all = true;
  for (const auto& run : outcome.runs) {
    for (const RunResult* r : {&run.result, run.alone ? &*run.alone : nullptr}) {
      if (r == nullptr) continue;
      if (r->switches.ledger_balanced && r->traffic.ledger_balanced && r->mbufs_leaked == 0)
        continue;
      all = false;
      say("outrider-lab: packets are not accounted for in \"" +
          names[static_cast<std::size_t>(run.definition - cases.data())] + "\"" +
          (r == &run.result ? "" : " without background") + " (switch " +
          (r->switches.ledger_balanced ? "ok" : "not balanced") + ", generator " +
          (r->traffic.ledger_balanced ? "ok" : "not balanced") + ", buffers leaked " +
          std::to_string(r->mbufs_leaked) + ")");
    }
  }
  return all;
}

int status_of(const RunOutcome& outcome, bool ledger) {
  if (outcome.interrupted) return kExitInterrupted;
  if (!ledger) return kExitLedger;
  return outcome.failures.empty() ? kExitOk : kExitFailure;
}

}  // namespace

int check_command(const LabOptions& options) {
  const auto planned = load(options);
  if (!planned) return kExitUsage;
  std::printf("%s: no fault; %zu cases of %zu arms\n", options.file.c_str(), planned->cases.size(),
              planned->file.arms.size());
  return kExitOk;
}

int plan_command(const LabOptions& options) {
  const auto planned = load(options);
  if (!planned) return kExitUsage;
  for (const auto& name : planned->names) std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  say(planned->file.name + ": " + std::to_string(planned->cases.size()) + " cases");
  const std::size_t jobs = usable_cpus().size();
  if (const auto seconds = estimate_seconds(planned->cases, jobs))
    say("about " + duration_text(*seconds) + " in virtual time on " + std::to_string(jobs) +
        " processes of this machine");
  return kExitOk;
}

int run_command(const LabOptions& options) {
  catch_stop_signals();  // first: from here on Ctrl-C leaves results
  const auto planned = load(options);
  if (!planned) return kExitUsage;
  const auto attributed = [](const Case& c) { return c.traffic.attribution; };
  if (options.runtime == Runtime::kLoopback && std::ranges::any_of(planned->cases, attributed)) {
    say(options.file +
        ": attribution: is for virtual time alone: with real processes nobody can say what was "
        "served while a packet waited");
    return kExitUsage;
  }
  const std::filesystem::path directory =
      options.out.empty() ? std::filesystem::path("results") / planned->file.name
                          : std::filesystem::path(options.out);
  if (!prepare(directory)) return kExitUsage;
  const RunStore store(directory, program_identity());
  if (options.fresh) store.clear();
  RunOutcome outcome = run_cases(options, *planned, directory, store);
  for (const auto& failure : outcome.failures)
    say("outrider-lab: \"" + failure.name + "\": " + failure.cause);

  const bool ledger = balanced(outcome, planned->names, planned->cases);
  const int status = status_of(outcome, ledger);
  const Experiment experiment{planned->file.name, options.runtime, planned->cases.size(),
                              std::move(outcome.runs), planned->file.question};
  const Summary summary = summarise(experiment);
  write_bundle(directory, experiment, summary,
               {{"dpdk", rte_version()}, {"experiment_file", options.file}});
  write_report_of_run(directory);
  std::fputs((options.json ? to_json(summary) : comparison_table(summary)).c_str(), stdout);
  std::fflush(stdout);
  if (outcome.interrupted)
    say("outrider-lab: interrupted: " + std::to_string(experiment.runs.size()) + " of " +
        std::to_string(planned->cases.size()) +
        " cases are complete; the same command runs the rest");
  say("outrider-lab: results are in " + directory.string());
  if (!outcome.interrupted && outcome.failures.empty()) store.clear();
  return status;
}

}  // namespace outrider
