#include <rte_version.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "common/config/config_file.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_finished.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/search/best_text.h"
#include "tools/lab/search/run_goal.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// The cases of both phases, and the seed with which the second begins.
struct SearchCases {
  std::vector<Case> cases{};
  std::uint64_t first_seed = 1;

  [[nodiscard]] std::uint64_t first_of(SearchPhase phase) const {
    return phase == SearchPhase::kScreening ? first_seed : first_seed + kSeedsBetweenPhases;
  }
  /// Returns what the results may have: they are of the seeds that verify.
  [[nodiscard]] ResultsScope scope(const std::string& experiment) const {
    ResultsScope scope = scope_of(experiment, Runtime::kVirtual, cases);
    std::erase_if(scope.seeds,
                  [this](std::uint64_t seed) { return seed < first_of(SearchPhase::kVerifying); });
    return scope;
  }
};

/// Plans the seeds of both phases. @return nothing, after printing a message, on a fault
std::optional<SearchCases> plan_search(const LabOptions& options, const SearchFile& file) {
  SearchCases planned{.first_seed = options.first_seed};
  const std::uint32_t seeds[] = {file.settings.searched_seeds(), file.settings.verifying_seeds};
  for (const SearchPhase phase : {SearchPhase::kScreening, SearchPhase::kVerifying}) {
    auto plan = make_plan(file.experiment, {.first_seed = planned.first_of(phase),
                                            .seeds = seeds[static_cast<std::size_t>(phase)]});
    if (!plan) {
      std::fputs(format_issues(options.file, plan.issues).c_str(), stderr);
      return std::nullopt;
    }
    std::ranges::move(*plan.config, std::back_inserter(planned.cases));
  }
  return planned;
}

/// Runs the search round by round. It runs the same cases for any number of processes.
class SearchSession {
 public:
  SearchSession(const LabOptions& options, const SearchFile& file, SearchCases planned,
                const RunStore& store)
      : options_(options),
        file_(file),
        planned_(std::move(planned)),
        store_(store),
        goal_(make_goal(file)),
        labels_(goal_->arms()),
        runs_(Runtime::kVirtual) {
    for (const auto& c : planned_.cases) names_.push_back(case_name(file.experiment, c));
  }

  /// @return exit status; other than kExitOk, the search was not finished
  int run() {
    const SearchSettings& s = file_.settings;
    SearchRounds rounds({.screening = s.screening_seeds,
                         .narrowing = s.searched_seeds(),
                         .verifying = s.verifying_seeds,
                         .narrow_enough = s.narrow_enough},
                        labels_.size());
    while (const auto round = rounds.next(*goal_)) {
      if (const int status = run_round(*round); status != kExitOk) return status;
      const auto all = runs_.digests();
      const auto verifying = std::ranges::find_if(all, [this](const RunDigest* run) {
        return run->definition->seed >= planned_.first_of(SearchPhase::kVerifying);
      });
      goal_->take(*round, {{all.begin(), verifying}, {verifying, all.end()}});
    }
    goal_->end();
    return kExitOk;
  }

  /// Writes the results: those of the seeds that verify, and in a folder of their own those of the
  /// screening.
  void write(const fs::path& directory) const {
    const auto all = runs_.digests();
    const auto verifying = static_cast<std::size_t>(
        std::ranges::find_if(all,
                             [this](const RunDigest* run) {
                               return run->definition->seed >=
                                      planned_.first_of(SearchPhase::kVerifying);
                             }) -
        all.begin());
    const fs::path screening = directory / "screening";
    fs::create_directories(screening);
    write_part(screening, 0, verifying);
    write_part(directory, verifying, all.size());
    write_whole_file(directory / "search.json", goal_->json());
    write_whole_file(directory / "search.txt", goal_->text());
    write_whole_file(directory / "search.csv", goal_->csv());
  }

  [[nodiscard]] const RunGoal& goal() const { return *goal_; }
  [[nodiscard]] const std::vector<Case>& cases() const { return planned_.cases; }

 private:
  int run_round(const SearchRound& round) {
    const std::uint64_t first = planned_.first_of(round.phase);
    say("outrider-lab: " + std::to_string(round.arms.size()) + " arms, seeds " +
        std::to_string(first + round.first) + " to " + std::to_string(first + round.end - 1));
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < planned_.cases.size(); ++i) {
      const Case& c = planned_.cases[i];
      const auto is_alive = [&](std::size_t arm) { return labels_[arm] == c.label; };
      if (c.seed >= first + round.first && c.seed < first + round.end &&
          std::ranges::any_of(round.arms, is_alive))
        wanted.push_back(i);
    }
    const std::size_t jobs = options_.jobs != 0 ? options_.jobs : usable_cpus().size();
    const RunOutcome outcome =
        run_session({file_.experiment.name, planned_.cases, names_, Runtime::kVirtual, store_,
                     [jobs](const RunOrder& order) { return run_cases_virtual(order, jobs); }},
                    wanted, runs_);
    tell_failures(outcome);
    return status_of(outcome, verdict_of(runs_, names_, planned_.cases));
  }

  /// Writes what `run` writes, of the runs from `first` to before `end`.
  void write_part(const fs::path& directory, std::size_t first, std::size_t end) const {
    const auto all = runs_.digests();
    const Experiment experiment{.name = file_.experiment.name,
                                .runtime = Runtime::kVirtual,
                                .planned_cases = end - first,
                                .question = file_.experiment.question};
    const ReadRun read = reader_of(runs_);
    write_bundle(directory, summarise(experiment, std::span(all).subspan(first, end - first)),
                 [&](std::size_t i) { return read(first + i); },
                 {{"dpdk", rte_version()}, {"experiment_file", options_.file}});
    write_report_of_run(directory);
  }

  const LabOptions& options_;
  const SearchFile& file_;
  SearchCases planned_;
  std::vector<std::string> names_{};
  const RunStore& store_;
  std::unique_ptr<RunGoal> goal_;
  std::vector<std::string> labels_;  ///< of the goal's arms
  FinishedRuns runs_;
};

/// Reads the experiment with what the command line says. @return nothing, after printing a message,
/// on a fault
std::optional<SearchFile> file_of_search(const LabOptions& options) {
  auto file = load_search(options.file);
  if (!file) {
    std::fputs(format_issues(options.file, file.issues).c_str(), stderr);
    return std::nullopt;
  }
  SearchSettings& settings = file.config->settings;
  settings.verifying_seeds = options.seeds.value_or(settings.verifying_seeds);
  const auto all = metrics();
  if (std::ranges::find(all, settings.objective, &Metric::name) == all.end()) {
    say(options.file + ": search.objective: \"" + settings.objective +
        "\": is no metric; `outrider-lab metrics` lists them");
    return std::nullopt;
  }
  return std::move(*file.config);
}

constexpr PrintedFiles kPrinted{.json = "search.json", .text = "search.txt"};

/// Returns all that a search depends on beside its cases.
std::string asked_by(const SearchFile& file) {
  std::string text = file.experiment.question + '\n' + write_config(file.settings);
  for (const SearchFamily& family : file.settings.families) {
    text += '\n' + family.label;
    for (const std::string& arm : family.arms) text += ' ' + arm;
  }
  return text;
}

/// Returns search.json of a search for the best; null if a directory has none.
SearchJson search_at(const fs::path& directory) {
  std::ifstream in(directory / "search.json", std::ios::binary);
  SearchJson search = in ? SearchJson::parse(in, nullptr, false) : SearchJson();
  return search.is_object() && search.value("pick", "") == "best" ? search : SearchJson();
}

}  // namespace

int search_command(const LabOptions& options) {
  catch_stop_signals();  // first, so that finished runs are kept after Ctrl-C
  const auto file = file_of_search(options);
  if (!file) return kExitUsage;
  auto planned = plan_search(options, *file);
  if (!planned) return kExitUsage;
  const fs::path directory =
      options.out.empty() ? fs::path("results") / file->experiment.name : fs::path(options.out);
  if (!prepare(directory)) return kExitUsage;
  const auto lock = take(directory, options, planned->scope(file->experiment.name));
  if (!lock) return kExitUsage;
  const RunStore store(directory, program_identity());
  const std::string asked = asked_by(*file);
  if (show_finished(options, store, asked, planned->cases, directory, kPrinted)) return kExitOk;
  if (options.fresh) store.clear();
  SearchSession session(options, *file, std::move(*planned), store);
  if (const int status = session.run(); status != kExitOk) {
    say("outrider-lab: the search is not finished; the same command goes on with it (" +
        store_text(store) + ")");
    return status;
  }
  session.write(directory);
  mark_finished(options, store, asked, session.cases(), directory);
  const RunGoal& goal = session.goal();
  std::fputs((options.json ? goal.json() : goal.text()).c_str(), stdout);
  std::fflush(stdout);
  say("outrider-lab: results are in " + directory.string());
  store.clear();
  return kExitOk;
}

int best_command(const LabOptions& options) {
  std::vector<BestPoint> points;
  for (const std::string& name : options.parts) {
    try {
      const fs::path directory = (fs::path(name) / "").parent_path();  // without a last slash
      std::ranges::move(
          points_of(directory.filename().string(), read_results(open_results(directory)),
                    search_at(directory), options.best, options.arms),
          std::back_inserter(points));
    } catch (const std::exception& error) {
      say("outrider-lab: " + name + ": " + error.what());
      return kExitUsage;
    }
  }
  const bool markdown = options.table.form == TableForm::kMarkdown;
  std::fputs((markdown ? best_markdown(points) : best_text(points)).c_str(), stdout);
  return kExitOk;
}

}  // namespace outrider::lab
