#include "tools/lab/cli/advise_fit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tools/lab/advise/advice_plan.h"
#include "tools/lab/advise/scaled.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/run/processor_time.h"
#include "tools/lab/run/time_estimate.h"

namespace outrider::lab {
namespace {

/// Returns what the file describes with smaller bursts. A burst without its model has no order.
AdvisedFile smaller_bursts(const AdvisedFile& advised, unsigned smaller) {
  AdvisedFile made = advised;
  made.experiment =
      scaled(std::move(made.experiment), made.traits.closed_loop, 1.0 / smaller, 1.0 / smaller);
  made.traits.has_order = false;
  return made;
}

/// Estimates what a case adds to the wall time. It may take several times as long, as the estimate
/// knows nothing of congestion. @return nothing if nobody can tell
std::optional<double> estimate_of_case(const AdviceRounds& rounds, const AdvisedFile& advised,
                                       double room_seconds) {
  const auto planned =
      rounds.plan({.name = "screen", .advised = advised}, {.seeds = 1, .arms = {"off"}});
  if (!planned) return 0;
  return estimate_seconds(planned->cases, rounds.jobs(),
                          std::min(kTrial_seconds, room_seconds / 60));
}

/// Says whether the arms may take longer than a user wants to wait.
bool takes_long(std::optional<double> estimate, std::size_t arms, double room_seconds) {
  constexpr double kDoubt = 6;
  return !estimate || smaller_to_fit(arms, 2, kDoubt * *estimate / 2, room_seconds) > 1;
}

/// Says so if not even one remedy can be compared with today's setting in time, by an estimate that
/// is rather too short. @param estimate  of a case with the smallest bursts
bool is_too_long(std::optional<double> estimate, double room_seconds) {
  constexpr std::size_t kFewest = 2;
  const double least = estimate ? least_seconds(kFewest, *estimate, room_seconds) : 0;
  if (least <= longest_seconds(room_seconds)) return false;
  say("outrider-lab: even one remedy, with the smallest bursts, takes " + duration_text(least) +
      " or more. Give --minutes " + minutes_text(least) +
      " or more, or a file with fewer hosts or smaller bursts; nothing was run");
  return true;
}

/// Runs today's setting once. @return what such a case adds to the wall time [s]; nothing after a
/// fault or Ctrl-C, with the status to end with
std::optional<double> probe(AdviceRounds& rounds, const AdvisedFile& advised, int& status) {
  const ProcessorTime run;
  const auto round =
      rounds.ask({.name = "probe", .advised = advised}, {.seeds = 1, .arms = {"off"}});
  if (!round) return std::nullopt;
  status = round->status;
  if (status != kExitOk) return std::nullopt;
  return run.seconds() / rounds.processors();
}

}  // namespace

FittingFile fit(AdviceRounds& rounds, const AdvisedFile& advised, double room_seconds,
                double left_seconds) {
  const Waited waited;
  FittingFile made{.advised = advised, .arms = usable_arms(advised, rounds.conf())};
  const std::size_t arms = made.arms.labels.size();
  if (arms == 1 || !takes_long(estimate_of_case(rounds, advised, room_seconds), arms, room_seconds))
    return made;
  const unsigned most = most_smaller(advised);
  const AdvisedFile smallest = most == 1 ? advised : smaller_bursts(advised, most);
  const bool too_long = is_too_long(estimate_of_case(rounds, smallest, room_seconds), room_seconds);
  const auto each = too_long ? std::nullopt : probe(rounds, smallest, made.status);
  if (!each) {
    made.arms.labels.clear();
    return made;
  }
  made.smaller = smaller_to_fit(arms, most, *each, left_seconds - waited.seconds());
  made.case_seconds = seconds_when(made.smaller, most, *each);
  if (made.smaller == 1) return made;
  made.advised = smaller_bursts(advised, made.smaller);
  made.arms = usable_arms(made.advised, rounds.conf());
  say("outrider-lab: bursts and the times between them are made " + std::to_string(made.smaller) +
      " times smaller, to keep to --minutes");
  return made;
}

}  // namespace outrider::lab
