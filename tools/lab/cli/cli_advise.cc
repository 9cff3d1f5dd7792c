#include <rte_version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/config/config_file.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "switch/config/config_toml.h"
#include "tools/lab/advise/advice_text.h"
#include "tools/lab/advise/cluster_experiment.h"
#include "tools/lab/advise/what_if.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/run/run_process.h"
#include "tools/lab/run/time_estimate.h"
#include "tools/lab/summary/bundle.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// The seeds of each part of the work. Those that verify are others than those that search.
struct AdviceSeeds {
  static constexpr std::uint64_t kFirstToVerify = 1001;
  static constexpr std::uint32_t kLeastToVerify = 4, kMostToVerify = 20;
  static constexpr std::uint32_t kLeastOfWhatIf = 2, kMostOfWhatIf = 4;

  std::uint32_t screen = 2;
  std::uint32_t verify = kLeastToVerify;
  std::uint32_t what_if = kLeastOfWhatIf;
};

/// Arms of each what-if.
constexpr std::size_t kMostAsked = 3;

/// Returns the folder with models, distributions and remedies: that of the source tree in which the
/// program was built, or share/outrider/conf of where it is installed.
/// @throws std::runtime_error if there is none
fs::path conf_directory() {
  for (fs::path at = own_directory(); !at.empty() && at != at.root_path(); at = at.parent_path())
    for (const char* place : {"conf", "share/outrider/conf"})
      if (fs::exists(at / place / "remedies.toml")) return at / place;
  throw std::runtime_error("no folder conf with remedies.toml is above " +
                           own_directory().string());
}

/// A round's cases, and what came of them.
struct AdviceRound {
  std::vector<Case> cases;
  Summary summary{};
  int status = kExitOk;  ///< kExitOk only if all cases have ended
};

/// Asks one cluster's experiments, one round after another. Each has a folder below the results.
class Adviser {
 public:
  Adviser(const LabOptions& options, Cluster cluster, fs::path directory)
      : options_(options),
        cluster_(std::move(cluster)),
        directory_(std::move(directory)),
        conf_(conf_directory()),
        jobs_(options.jobs != 0 ? options.jobs : usable_cpus().size()) {}

  /// @return exit status
  int run() {
    const auto arms = possible_arms();
    if (arms.empty()) return kExitUsage;
    if (arms.size() == 1) {
      say("outrider-lab: nothing may be changed by [change], so there is nothing to advise");
      return kExitUsage;
    }
    const AdviceSeeds seeds = seeds_for(arms);
    const auto screened = ask("screen", cluster_, {}, {.seeds = seeds.screen, .arms = arms});
    if (!screened) return kExitUsage;
    if (screened->status != kExitOk) return end(screened->status);
    use(*screened, false);
    const auto labels = worth_verifying(advice_.remedies, cluster_.goal);
    const auto verified =
        ask("verify", cluster_, {},
            {.first_seed = AdviceSeeds::kFirstToVerify, .seeds = seeds.verify, .arms = labels});
    if (!verified) return kExitUsage;
    if (verified->status != kExitOk) return end(verified->status);
    use(*verified, true);
    return end(ask_what_ifs(seeds.what_if));
  }

 private:
  /// Returns the labels of the arms that the cluster lets be used; none after printing a message.
  std::vector<std::string> possible_arms() {
    const auto planned = plan("screen", cluster_, {}, {.seeds = 1});
    std::vector<std::string> labels;
    if (!planned) return labels;
    for (const Case& c : planned->cases)
      if (is_possible(nature_of(c.label, c.parameters), cluster_)) labels.push_back(c.label);
    return labels;
  }

  /// Returns as many seeds as the wanted minutes have room for.
  AdviceSeeds seeds_for(const std::vector<std::string>& arms) {
    AdviceSeeds seeds;
    const auto planned = plan("screen", cluster_, {}, {.seeds = seeds.screen, .arms = arms});
    const auto estimate = planned ? estimate_seconds(planned->cases, jobs_) : std::nullopt;
    if (!estimate) return seeds;
    const double wanted = options_.minutes * 60;
    const double of_case = *estimate / static_cast<double>(planned->cases.size());
    if (*estimate > wanted / 4) seeds.screen = 1;
    const auto fitting = [&](double share, double cases, std::uint32_t least, std::uint32_t most) {
      const double count = share * wanted / (of_case * cases);
      return static_cast<std::uint32_t>(
          std::clamp(std::floor(count), static_cast<double>(least), static_cast<double>(most)));
    };
    constexpr double kVerified = 8, kAsked = 7 * kMostAsked;  // arms, about
    seeds.verify = fitting(0.4, kVerified, AdviceSeeds::kLeastToVerify, AdviceSeeds::kMostToVerify);
    seeds.what_if = fitting(0.2, kAsked, AdviceSeeds::kLeastOfWhatIf, AdviceSeeds::kMostOfWhatIf);
    const double seconds = of_case * (static_cast<double>(arms.size()) * seeds.screen +
                                      kVerified * seeds.verify + kAsked * seeds.what_if);
    say("outrider-lab: " + std::to_string(arms.size()) + " arms, about " + duration_text(seconds));
    return seeds;
  }

  std::optional<Planned> plan(const std::string& name, const Cluster& cluster,
                              const Point& parameters, const PlanOptions& options) {
    const fs::path folder = directory_ / name;
    fs::create_directories(folder);
    const fs::path file = folder / "experiment.toml";
    const ConfigTable experiment = experiment_of(cluster,
                                                 {.name = "advise-" + folder.filename().string(),
                                                  .question = "What helps this cluster?",
                                                  .parameters = parameters},
                                                 conf_);
    write_whole_file(file, "# Made by `outrider-lab advise`.\n" + to_toml_text(experiment));
    return plan_cases(file.string(), options);
  }

  /// Runs one round and writes its results. @return nothing, after printing a message, on a fault
  std::optional<AdviceRound> ask(const std::string& name, const Cluster& cluster,
                                 const Point& parameters, const PlanOptions& options) {
    auto planned = plan(name, cluster, parameters, options);
    if (!planned) return std::nullopt;
    AdviceRound round{.cases = std::move(planned->cases)};
    std::vector<std::size_t> all(round.cases.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const RunStore& store = stores_.emplace_back(directory_ / name, program_identity());
    if (options_.fresh) store.clear();
    FinishedRuns runs(store, Runtime::kVirtual);
    const RunOutcome outcome =
        run_session({planned->file.name, round.cases, planned->names, Runtime::kVirtual, store,
                     [this](const RunOrder& order) {
                       return run_cases_virtual(order, jobs_, 0, ReferenceRuns::kOfOff);
                     }},
                    all, runs);
    tell_failures(outcome);
    round.status = status_of(outcome, balanced(runs, planned->names, round.cases));
    if (round.status != kExitOk) return round;
    const Experiment experiment{.name = planned->file.name,
                                .planned_cases = round.cases.size(),
                                .question = planned->file.question};
    round.summary = summarise(experiment, runs.digests());
    write_bundle(directory_ / name, round.summary, reader_of(runs),
                 {{"dpdk", rte_version()}, {"experiment_file", options_.file}});
    write_report_of_run(directory_ / name);
    return round;
  }

  /// Takes a round's figures for the advice.
  void use(const AdviceRound& round, bool verified) {
    advice_.goal = cluster_.goal;
    advice_.remedies = remedies_of(round.summary, closed_loop());
    advice_.verified = verified;
    const auto& off = find(round.cases, "off").parameters;
    const Case& of_chosen = find(round.cases, chosen().label);
    advice_.settings.clear();
    for (std::size_t i = 0; i < of_chosen.parameters.size(); ++i)
      if (of_chosen.parameters[i] != off[i]) advice_.settings.push_back(of_chosen.parameters[i]);
    write_whole_file(directory_ / "outrider-switch.toml", sw::to_toml(of_chosen.switches));
  }

  /// Asks again with one thing changed: nothing, what is advised, and the best that is not.
  /// @return exit status
  int ask_what_ifs(std::uint32_t seeds) {
    std::vector<std::string> labels{"off", chosen().label};
    for (const std::size_t i : best_of_kinds(advice_.remedies, advice_.goal))
      if (labels.size() < kMostAsked && is_allowed(advice_.remedies[i], advice_.goal) &&
          std::ranges::find(labels, advice_.remedies[i].label) == labels.end())
        labels.push_back(advice_.remedies[i].label);
    for (const WhatIf& changed : what_ifs(cluster_)) {
      const auto round = ask("what-if/" + changed.name, changed.cluster, changed.parameters,
                             {.seeds = seeds, .arms = labels});
      if (!round) return kExitUsage;
      if (round->status != kExitOk) return round->status;
      const auto remedies = remedies_of(round->summary, closed_loop());
      const Remedy& then = remedies[recommend(remedies, cluster_.goal).chosen];
      advice_.answers.push_back({.text = changed.text, .label = then.label, .change = then.change});
    }
    return kExitOk;
  }

  /// Prints what is known. @return exit status
  int end(int status) {
    if (status != kExitOk)
      say("outrider-lab: not all questions are answered; the same command goes on");
    if (advice_.remedies.empty()) return status;
    const std::string text = advice_text(advice_);
    write_whole_file(directory_ / "advice.txt", text);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    say("outrider-lab: advice.txt, outrider-switch.toml and the results of each question are in " +
        directory_.string());
    if (status == kExitOk)
      for (const RunStore& store : stores_) store.clear();
    return status;
  }

  static const Case& find(const std::vector<Case>& cases, const std::string& label) {
    return *std::ranges::find(cases, label, &Case::label);
  }
  [[nodiscard]] bool closed_loop() const { return !cluster_.job.period; }
  [[nodiscard]] const Remedy& chosen() const {
    return advice_.remedies[recommend(advice_.remedies, advice_.goal).chosen];
  }

  const LabOptions& options_;
  Cluster cluster_;
  fs::path directory_;
  fs::path conf_;
  std::size_t jobs_;
  std::deque<RunStore> stores_{};  ///< of the rounds so far
  Advice advice_{};
};

/// Returns whether a directory has no advice for another cluster. If it has, a message has said so.
bool is_free(const fs::path& directory, const Cluster& cluster, bool force) {
  const fs::path kept = directory / "cluster.toml";
  if (force || !fs::exists(kept)) return true;
  const auto earlier = load_config<Cluster>(kept);
  if (earlier && write_config(*earlier.config) == write_config(cluster)) return true;
  say("outrider-lab: " + directory.string() +
      " has the advice for another cluster.toml: give --out DIR, or --force to replace it");
  return false;
}

/// Writes a file to begin from, or prints it if there is no name. @return exit status
int write_new(const std::string& file) {
  if (file.empty()) {
    std::fputs(new_cluster().c_str(), stdout);
    return kExitOk;
  }
  if (fs::exists(file)) {
    say("outrider-lab: " + file + " is there: give another name");
    return kExitUsage;
  }
  write_whole_file(file, new_cluster());
  say("outrider-lab: " + file + " is a cluster to put your own numbers in");
  return kExitOk;
}

}  // namespace

int advise_command(const LabOptions& options) {
  if (options.new_file) return write_new(options.file);
  if (options.file.empty()) {
    say("outrider-lab: advise needs the file of a cluster; `outrider-lab advise --new FILE` writes "
        "one");
    return kExitUsage;
  }
  catch_stop_signals();
  auto cluster = load_cluster(options.file, conf_directory());
  if (!cluster) {
    std::fputs(format_issues(options.file, cluster.issues).c_str(), stderr);
    return kExitUsage;
  }
  const fs::path directory =
      options.out.empty() ? fs::path("results") / "advise" : fs::path(options.out);
  if (!prepare(directory)) return kExitUsage;
  const auto lock = take(directory, options, {.experiment = "advise", .runtime = {}, .seeds = {}});
  if (!lock || !is_free(directory, *cluster.config, options.force)) return kExitUsage;
  write_whole_file(directory / "cluster.toml", write_config(*cluster.config));
  return Adviser(options, std::move(*cluster.config), directory).run();
}

}  // namespace outrider::lab
