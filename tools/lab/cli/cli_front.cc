#include <rte_version.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <sstream>

#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/front/front_result.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/summary/bundle.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// Runs the search round by round. It runs the same cases for any number of processes.
class FrontSearch {
 public:
  FrontSearch(const LabOptions& options, const FrontFile& file, std::vector<Case> cases,
              const RunStore& store)
      : options_(options), cases_(std::move(cases)), store_(store), runs_(Runtime::kVirtual) {
    result_.experiment = file.experiment.name;
    result_.question = file.experiment.question;
    result_.settings = file.settings;
    result_.candidates = candidates_of(file);
    for (const auto& c : cases_) names_.push_back(case_name(file.experiment, c));
    alive_.resize(result_.candidates.size());
    std::iota(alive_.begin(), alive_.end(), std::size_t{0});
  }

  /// @return exit status; other than kExitOk, the search was not finished
  int run() {
    const FrontSettings& s = result_.settings;
    std::uint32_t done = 0;
    for (const std::uint32_t seeds : rounds_of(s.screening_seeds, s.seeds)) {
      if (const int status = run_round(done, seeds); status != kExitOk) return status;
      result_.rounds.push_back({seeds, alive_.size()});
      done = seeds;
      estimate_search(result_);
      if (seeds < s.seeds) keep(survivors_of(result_));
    }
    pick(result_);
    std::vector<std::size_t> picked;
    for (std::size_t c = 0; c < result_.candidates.size(); ++c)
      if (on_any_front(result_, c)) picked.push_back(c);
    keep(picked);
    if (const int status = run_round(done, done + s.report_seeds); status != kExitOk) return status;
    report(result_);
    return kExitOk;
  }

  [[nodiscard]] const FrontResult& result() const { return result_; }
  [[nodiscard]] const FinishedRuns& runs() const { return runs_; }

 private:
  int run_round(std::uint32_t from, std::uint32_t to) {
    say("outrider-lab: " + std::to_string(alive_.size()) + " candidates, seeds " +
        std::to_string(from + 1) + " to " + std::to_string(to));
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const std::uint64_t seed = cases_[i].seed - options_.first_seed;
      const auto is_alive = [&](std::size_t c) {
        return result_.candidates[c].label == cases_[i].label;
      };
      if (seed >= from && seed < to && std::ranges::any_of(alive_, is_alive)) wanted.push_back(i);
    }
    const std::size_t jobs = options_.jobs != 0 ? options_.jobs : usable_cpus().size();
    const RunOutcome outcome =
        run_session({result_.experiment, cases_, names_, Runtime::kVirtual, store_,
                     [jobs](const RunOrder& order) { return run_cases_virtual(order, jobs); }},
                    wanted, runs_);
    tell_failures(outcome);
    const int status = status_of(outcome, verdict_of(runs_, names_, cases_));
    if (status == kExitOk) take_samples(runs_.digests(), result_);
    return status;
  }

  /// Drops all other candidates. Off always stays, because the costs of the others are measured
  /// against it.
  void keep(const std::vector<std::size_t>& kept) {
    std::erase_if(
        alive_, [&](std::size_t c) { return c != 0 && std::ranges::find(kept, c) == kept.end(); });
  }

  const LabOptions& options_;
  std::vector<Case> cases_;
  std::vector<std::string> names_{};
  const RunStore& store_;
  FrontResult result_{};
  std::vector<std::size_t> alive_{};  ///< indices of candidates
  FinishedRuns runs_;
};

void write_results(const LabOptions& options, const fs::path& directory,
                   const FrontSearch& search) {
  const FrontResult& r = search.result();
  const Experiment experiment{
      .name = r.experiment, .runtime = Runtime::kVirtual, .question = r.question};
  write_bundle(directory, summarise(experiment, search.runs().digests()), reader_of(search.runs()),
               {{"dpdk", rte_version()}, {"experiment_file", options.file}});
  write_report_of_run(directory);
  write_whole_file(directory / "front.json", to_json(r));
  write_whole_file(directory / "front.txt", front_table(r));
  std::ostringstream csv;
  write_front_csv(csv, r);
  write_whole_file(directory / "front.csv", csv.str());
}

}  // namespace

int front_command(const LabOptions& options) {
  catch_stop_signals();  // first, so that finished runs are kept after Ctrl-C
  auto file = load_front(options.file);
  if (!file) {
    std::fputs(format_issues(options.file, file.issues).c_str(), stderr);
    return kExitUsage;
  }
  FrontSettings& settings = file.config->settings;
  settings.report_seeds = options.seeds.value_or(settings.report_seeds);
  auto plan = make_plan(file.config->experiment, {.first_seed = options.first_seed,
                                                  .seeds = settings.seeds + settings.report_seeds});
  if (!plan) {
    std::fputs(format_issues(options.file, plan.issues).c_str(), stderr);
    return kExitUsage;
  }
  const fs::path directory = options.out.empty()
                                 ? fs::path("results") / file.config->experiment.name
                                 : fs::path(options.out);
  if (!prepare(directory)) return kExitUsage;
  const auto lock = take(directory, options,
                         scope_of(file.config->experiment.name, Runtime::kVirtual, *plan.config));
  if (!lock) return kExitUsage;
  const RunStore store(directory, program_identity());
  if (options.fresh) store.clear();
  FrontSearch search(options, *file.config, std::move(*plan.config), store);
  if (const int status = search.run(); status != kExitOk) {
    say("outrider-lab: the search is not finished; the same command goes on with it (" +
        store_text(store) + ")");
    return status;
  }
  write_results(options, directory, search);
  const std::string text = options.json ? to_json(search.result()) : front_table(search.result());
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  say("outrider-lab: results are in " + directory.string());
  store.clear();
  return kExitOk;
}

}  // namespace outrider::lab
