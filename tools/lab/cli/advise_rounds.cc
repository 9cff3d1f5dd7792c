#include "tools/lab/cli/advise_rounds.h"

#include <rte_version.h>

#include <numeric>
#include <utility>

#include "common/config/config_file.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/advise/advised_experiment.h"
#include "tools/lab/cli/advise_files.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/report/report_data.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_loopback.h"
#include "tools/lab/run/run_pool.h"

namespace outrider::lab {

namespace fs = std::filesystem;

AdviceRounds::AdviceRounds(const LabOptions& options, fs::path directory)
    : options_(options),
      directory_(std::move(directory)),
      conf_(conf_of_program()),
      jobs_(options.jobs != 0 ? options.jobs : usable_cpus().size()) {}

std::optional<Planned> AdviceRounds::plan(const AdviceQuestion& question,
                                          const PlanOptions& options) const {
  const fs::path folder = directory_ / question.name;
  fs::create_directories(folder);
  const fs::path file = folder / "experiment.toml";
  const ConfigTable experiment = experiment_of(question.advised,
                                               {.name = "advise-" + folder.filename().string(),
                                                .brief = question.brief,
                                                .arms = options.arms,
                                                .parameters = question.parameters},
                                               conf_);
  write_whole_file(file, "# Made by `outrider-lab advise`.\n" + to_toml_text(experiment));
  return plan_cases(file.string(), options);
}

std::optional<AdviceRound> AdviceRounds::ask(const AdviceQuestion& question,
                                             const PlanOptions& options) {
  auto planned = plan(question, options);
  if (!planned) return std::nullopt;
  AdviceRound round{.name = question.name, .cases = std::move(planned->cases)};
  std::vector<std::size_t> all(round.cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const RunStore& store = stores_.emplace_back(directory_ / question.name, program_identity());
  if (options_.fresh) store.clear();
  FinishedRuns runs(question.runtime);
  const RunOutcome outcome = run_session(
      {planned->file.name, round.cases, planned->names, question.runtime, store,
       [&](const RunOrder& order) {
         if (question.runtime == Runtime::kLoopback)
           return run_cases_loopback(order, directory_ / question.name);
         return run_cases_virtual(order, jobs_);
       },
       // Times over those without background say nothing of several jobs.
       question.advised.traits.several_jobs ? ReferenceRuns::kNone : question.references},
      all, runs);
  tell_failures(outcome);
  round.timed = outcome.loaded == 0;
  ended_ = std::to_string(runs.digests().size()) + " of the " + std::to_string(round.cases.size()) +
           " cases of " + question.name;
  round.status = status_of(outcome, verdict_of(runs, planned->names, round.cases));
  if (round.status == kExitLedger || runs.digests().empty()) return round;
  const Experiment experiment{.name = planned->file.name,
                              .runtime = question.runtime,
                              .planned_cases = round.cases.size(),
                              .question = planned->file.question};
  round.summary = summarise(experiment, runs.digests());
  write_bundle(directory_ / question.name, round.summary, reader_of(runs),
               {{"dpdk", rte_version()}, {"experiment_file", options_.file}});
  fs::remove(directory_ / question.name / kAdviceFile);  // of an earlier session
  write_report_of_run(directory_ / question.name);
  return round;
}

void AdviceRounds::clear() {
  for (const RunStore& store : stores_) store.clear();
}

}  // namespace outrider::lab
