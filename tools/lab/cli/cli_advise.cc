#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
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
#include "tools/lab/advise/advice_plan.h"
#include "tools/lab/advise/advice_text.h"
#include "tools/lab/advise/advised_experiment.h"
#include "tools/lab/advise/advised_file.h"
#include "tools/lab/advise/loopback_twin.h"
#include "tools/lab/advise/what_if.h"
#include "tools/lab/cli/advise_files.h"
#include "tools/lab/cli/advise_fit.h"
#include "tools/lab/cli/advise_rounds.h"
#include "tools/lab/cli/advise_search.h"
#include "tools/lab/cli/advise_settings.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/report/report_data.h"
#include "tools/lab/run/processor_time.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/run/time_estimate.h"
#include "tools/lab/summary/table_notes.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// Seeds that verify are others than those that search.
constexpr std::uint64_t kFirstSeedToVerify = 1 + kSeedsBetweenPhases;
/// Times whose 95 % intervals are at most this wide to either side need no further seeds.
constexpr double kNarrowEnough = 0.005;
constexpr std::uint32_t kSeedsToConfirm = 4;  ///< 40 s each, in real time
/// Arms of each what-if.
constexpr std::size_t kMostAsked = 3;
/// A question may end a little after the time that the user wants to wait.
constexpr double kPatience = 1.05;

/// Asks one file's experiments, one round after another. Each has a folder below the results.
class Adviser {
 public:
  Adviser(const LabOptions& options, AdvisedFile advised, fs::path directory)
      : options_(options), advised_(std::move(advised)), rounds_(options, std::move(directory)) {
    advice_.assumed = advised_.assumed;
    advice_.always_settings = advised_.traits.roce;
  }

  /// @return exit status
  int run() {
    int status = kExitUsage;
    const auto arms = fitting_arms(status);
    if (arms.empty()) return status == kExitUsage ? status : end(status);
    if (arms.size() == 1) {
      say(kNothingToAdvise);
      return kExitUsage;
    }
    const auto tried = within_time(arms);
    if (tried.empty()) return kExitUsage;
    status = search(tried);
    if (status != kExitOk) return status == kExitUsage ? status : end(status);
    const int asked = ask_what_ifs();
    // Last: it takes time beyond that of the questions.
    const bool confirms = asked == kExitOk && options_.runtime == Runtime::kLoopback;
    return end(confirms ? confirm_in_loopback() : asked);
  }

 private:
  /// Returns the labels of the arms that may be used, after making bursts smaller if --minutes has
  /// no time for them; none after a fault or Ctrl-C, with the status to end with.
  std::vector<std::string> fitting_arms(int& status) {
    FittingFile fitting = fit(rounds_, advised_, options_.minutes * 60, seconds_left());
    status = fitting.status;
    advised_ = std::move(fitting.advised);
    advice_.smaller = fitting.smaller;
    advice_.left_out = std::move(fitting.arms.left_out);
    case_seconds_ = fitting.case_seconds;
    return std::move(fitting.arms.labels);
  }

  /// Screens the arms, and verifies those that are worth it with other seeds, until their times are
  /// known well enough. @return exit status
  int search(const std::vector<std::string>& arms) {
    const RoundSize screening = screen_size(arms.size(), case_seconds_, seconds_left());
    AdviceSearch goal(arms);
    SearchRounds rounds({.screening = screening.seeds,
                         .narrowing = screening.seeds,
                         .verifying = 1,
                         .narrow_enough = kNarrowEnough},
                        arms.size());
    while (const auto round = rounds.next(goal)) {
      const bool screens = round->phase == SearchPhase::kScreening;
      const auto asked = screens ? screen(arms, screening)
                                 : rounds_.ask({.name = "verify", .advised = advised_},
                                               {.first_seed = kFirstSeedToVerify,
                                                .seeds = round->end,
                                                .arms = goal.labels_of(round->arms)});
      if (!asked) return kExitUsage;
      // The screening has seen every arm; a part of another round says less.
      if (!screens && asked->status != kExitOk) return asked->status;
      if (!screens && !advice_.verified) advice_.screened = std::move(advice_.remedies);
      advice_.verified = !screens;
      use(*asked);
      if (asked->status != kExitOk) return asked->status;
      goal.take(advice_.remedies);
      if (!screens) continue;
      auto labels = worth_verifying(advice_.remedies, advised_.goal);
      const RoundSize size = verify_size(labels.size(), case_seconds_, seconds_left());
      labels.resize(size.arms);
      if (!has_time_to_verify(size)) return kExitOk;
      goal.verify(labels);
      rounds.verify_with(size.seeds);
    }
    return kExitOk;
  }

  [[nodiscard]] double seconds_left() const { return options_.minutes * 60 - waited_.seconds(); }

  /// Leaves out arms if all of them take longer than the user wants to wait. @return the arms that
  /// are tried; none, after asking for more time, if one of each kind takes too long as well
  std::vector<std::string> within_time(const std::vector<std::string>& all) {
    const AdviceQuestion question{.name = "screen", .advised = advised_};
    const auto planned = rounds_.plan(question, {.seeds = 1, .arms = all});
    if (!planned) return {};
    const double wanted = options_.minutes * 60;
    if (case_seconds_ > 0) {  // of a probe
    } else if (const auto estimate = estimate_seconds(
                   planned->cases, rounds_.jobs(), std::clamp(wanted / 30, kTrial_seconds, 20.0)))
      case_seconds_ = *estimate / static_cast<double>(planned->cases.size());
    std::vector<std::string> labels;
    std::vector<RemedyKind> kinds;
    for (const Case& c : planned->cases) {
      const auto& off = find(planned->cases, "off").parameters;
      const RemedyKind kind = nature_of(c.label, c.parameters, off).kind;
      if (std::ranges::find(kinds, kind) != kinds.end()) continue;
      kinds.push_back(kind);
      labels.push_back(c.label);
    }
    const Tried tried =
        scale_down(all.size(), labels.size(), case_seconds_, wanted, seconds_left());
    if (tried == Tried::kAll) return all;
    if (tried == Tried::kNothing) {
      const double least = least_seconds(labels.size(), case_seconds_, seconds_left());
      say("outrider-lab: even one arm of each kind, " + std::to_string(labels.size()) + " of " +
          std::to_string(all.size()) + ", takes about " + duration_text(least) +
          ". Give --minutes " + minutes_text(least) +
          ", or a file with fewer hosts or smaller bursts; nothing was run");
      return {};
    }
    say("outrider-lab: one arm of each kind, " + std::to_string(labels.size()) + " of " +
        std::to_string(all.size()) + ", is tried: --minutes has no time for more");
    return labels;
  }

  /// Says so if there is no time for the least that verifies, as after a search that a busy machine
  /// made long. @return whether there is
  [[nodiscard]] bool has_time_to_verify(const RoundSize& size) const {
    const double all = waited_.seconds() + seconds_of(size, case_seconds_);
    if (all <= longest_seconds(options_.minutes * 60)) return true;
    say("outrider-lab: the search took " + duration_text(waited_.seconds()) +
        "; --minutes has no time for the least that verifies it. Give --minutes " +
        minutes_text(all));
    return false;
  }

  /// Looks at the arms. Measures how long a case takes: a trial, from which an estimate is made
  /// before, is mostly warm-up.
  std::optional<AdviceRound> screen(const std::vector<std::string>& arms, const RoundSize& size) {
    AdviceQuestion question{.name = "screen", .advised = advised_};
    const double least = least_seconds(arms.size(), case_seconds_, seconds_left());
    const double wanted = options_.minutes * 60;
    say("outrider-lab: " + std::to_string(arms.size()) + " arms; the search takes about " +
        duration_text(seconds_of(size, case_seconds_)) + ", everything about " +
        duration_text(std::max(wanted, least)));
    const ProcessorTime screening;
    question.brief = size.brief;
    auto screened = rounds_.ask(question, {.seeds = size.seeds, .arms = arms});
    if (screened && screened->status == kExitOk && screened->timed)
      case_seconds_ = screening.seconds() / rounds_.processors() / seconds_of(size, 1);
    return screened;
  }

  /// Takes a round's figures for the advice, of those arms that can be compared with today's. A
  /// round that did not end may have none.
  void use(const AdviceRound& round) {
    if (std::ranges::find(round.summary.arms, "off", &ArmSummary::label) ==
        round.summary.arms.end())
      return;
    auto remedies = remedies_of(round.summary, advised_.traits);
    std::erase_if(remedies, [](const Remedy& r) {
      return r.nature.kind != RemedyKind::kNothing && std::isnan(r.change.value);
    });
    if (remedies.size() < 2) return;
    advice_.goal = advised_.goal;
    advice_.remedies = std::move(remedies);
    advice_of_ = round.name;
    advice_.by_default = needs_by_default(chosen().nature, advised_);
    warn(round);
    const Case& of_chosen = find(round.cases, chosen().label);
    const bool other = of_chosen.label != "off";
    advice_.arm = other ? arm_text(advised_, of_chosen, rounds_.conf()) : "";
    advice_.elsewhere = settings_text(advised_, advice_, round.cases, rounds_.directory());
    write_whole_file(rounds_.directory() / "outrider-switch.toml", sw::to_toml(of_chosen.switches));
  }

  /// Keeps what makes a round's figures of today and of the advised arm doubtful.
  void warn(const AdviceRound& round) {
    advice_.warnings.clear();
    if (round.status != kExitOk)
      advice_.warnings.push_back("not finished: " + std::to_string(advice_.remedies.size() - 1) +
                                 (advice_.remedies.size() == 2 ? " remedy" : " remedies") +
                                 " could be compared with today");
    if (const std::string few = few_iterations_text(find(round.cases, "off")); !few.empty())
      advice_.warnings.push_back(few);
    add_warnings(round, chosen().label, advice_.warnings);
  }

  void add_warnings(const AdviceRound& round, const std::string& label,
                    std::vector<std::string>& to) const {
    // Over RoCEv2 queues keep no records, which an engineer has not asked for.
    const auto told = [this](const ArmWarning& w) {
      return !advised_.traits.roce || w.text.find("measured queue") == std::string::npos;
    };
    for (const ArmWarning& w : round.summary.warnings)
      if ((w.label == "off" || w.label == label) && told(w))
        to.push_back(w.label + ": " + std::to_string(w.count) + ' ' + w.text);
  }

  /// Asks again with one thing changed: nothing, what is advised, and the best that is not.
  /// @return exit status
  int ask_what_ifs() {
    std::vector<std::string> labels{"off"};
    const auto add = [&](const Remedy& one) {
      if (std::ranges::find(labels, one.label) == labels.end()) labels.push_back(one.label);
    };
    add(chosen());
    for (const std::size_t i : best_of_kinds(advice_.remedies, advice_.goal))
      if (labels.size() < kMostAsked && is_allowed(advice_.remedies[i], advice_.goal))
        add(advice_.remedies[i]);
    const auto changes = what_ifs(advised_);
    const RoundSize size =
        what_if_size(labels.size(), changes.size(), case_seconds_, seconds_left());
    labels.resize(size.arms);
    double longest_seconds = seconds_of(size, case_seconds_);
    for (const WhatIf& changed : changes) {
      // Twice of anything takes longer, and congestion longer still.
      const double needs = longest_seconds * (changed.name.starts_with("twice") ? 2 : 1);
      if (waited_.seconds() + needs > kPatience * options_.minutes * 60) {
        advice_.not_asked.push_back(changed.text);
        continue;
      }
      const Waited asked;
      const auto round = rounds_.ask({.name = "what-if/" + changed.name,
                                      .advised = changed.advised,
                                      .parameters = changed.parameters,
                                      .brief = size.brief},
                                     {.seeds = size.seeds, .arms = labels});
      if (!round) return kExitUsage;
      if (round->status != kExitOk) return round->status;
      longest_seconds = std::max(longest_seconds, asked.seconds());
      const auto remedies = remedies_of(round->summary, advised_.traits);
      const Remedy& then = remedies[recommend(remedies, advised_.goal).chosen];
      advice_.answers.push_back({.text = changed.text, .label = then.label, .change = then.change});
    }
    return kExitOk;
  }

  /// Runs today's setting and one remedy between two processes and in virtual time, at rates that
  /// this machine carries. @return exit status
  int confirm_in_loopback() {
    const LoopbackTwin twin = loopback_twin(advised_);
    const std::string label =
        advice_.remedies[worth_confirming(advice_.remedies, advice_.goal)].label;
    const PlanOptions options{
        .first_seed = kFirstSeedToVerify, .seeds = kSeedsToConfirm, .arms = {"off", label}};
    Confirmation made{.label = label, .slower = twin.slower, .smaller_bursts = twin.smaller_bursts};
    for (const auto& [runtime, change] : {std::pair{Runtime::kVirtual, &made.virtual_change},
                                          std::pair{Runtime::kLoopback, &made.loopback_change}}) {
      const auto round = rounds_.ask({.name = std::string("confirm/") + name_of(runtime),
                                      .advised = twin.advised,
                                      .brief = true,
                                      .runtime = runtime,
                                      .references = ReferenceRuns::kNone},
                                     options);
      if (!round) return kExitUsage;
      if (round->status != kExitOk) return round->status;
      const auto remedies = remedies_of(round->summary, advised_.traits);
      *change = std::ranges::find(remedies, made.label, &Remedy::label)->change;
      if (runtime == Runtime::kLoopback) add_warnings(*round, label, made.warnings);
    }
    advice_.confirmation = made;
    return kExitOk;
  }

  /// Prints what is known. @return exit status
  int end(int status) {
    if (status != kExitOk)
      say("outrider-lab: not all questions are answered: " + rounds_.ended() + " have ended, " +
          (advice_.verified           ? "and the advice is of verified figures"
           : advice_.remedies.empty() ? "too few to compare a remedy with today's setting"
                                      : "and the advice is of the search alone, by few seeds") +
          ". The same command goes on");
    if (advice_.remedies.empty()) return status;
    const fs::path measured = rounds_.directory() / advice_of_;
    advice_.table =
        "outrider-lab table " + measured.string() + " --columns " + judging_metric(advised_.traits);
    const std::string text = advice_text(advice_);
    for (const fs::path& folder : {rounds_.directory(), measured})
      write_whole_file(folder / kAdviceFile, text);
    write_report_of_run(measured);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    say("outrider-lab: advice.txt, outrider-switch.toml and the results of each question are in " +
        rounds_.directory().string() + "; " + (measured / "report.html").string() +
        " shows the advice");
    if (status == kExitOk) rounds_.clear();
    return status;
  }

  static const Case& find(const std::vector<Case>& cases, const std::string& label) {
    return *std::ranges::find(cases, label, &Case::label);
  }
  [[nodiscard]] const Remedy& chosen() const {
    return advice_.remedies[recommend(advice_.remedies, advice_.goal).chosen];
  }

  const LabOptions& options_;
  AdvisedFile advised_;
  AdviceRounds rounds_;
  Waited waited_{};
  double case_seconds_ = 0;  ///< that a whole case adds to the wall time, see screen()
  std::string advice_of_{};  ///< AdviceRound::name of the round that the advice is made of
  Advice advice_{};
};

}  // namespace

int advise_command(const LabOptions& options) {
  if (options.new_file) return write_new_advised(options.file);
  if (options.file.empty()) {
    say("outrider-lab: advise needs the file of an experiment; `outrider-lab advise --new FILE` "
        "writes one");
    return kExitUsage;
  }
  catch_stop_signals();
  auto advised = load_advised(options.file);
  if (!advised) {
    std::fputs(format_issues(options.file, advised.issues).c_str(), stderr);
    return kExitUsage;
  }
  if (const auto cause = no_twin_because(*advised.config);
      options.runtime == Runtime::kLoopback && !cause.empty()) {
    say("outrider-lab: --confirm loopback cannot be had here: " + cause);
    return kExitUsage;
  }
  const fs::path directory =
      options.out.empty() ? fs::path("results") / "advise" : fs::path(options.out);
  if (!prepare(directory)) return kExitUsage;
  const auto lock = take(directory, options, {.experiment = "advise", .runtime = {}, .seeds = {}});
  if (!lock || !is_free(directory, *advised.config, options.force)) return kExitUsage;
  write_whole_file(directory / kAskedFile, identity_of(*advised.config));
  return Adviser(options, std::move(*advised.config), directory).run();
}

}  // namespace outrider::lab
