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

/// Says whether the arms may take longer than a user wants to wait. An estimate may be several
/// times too short, as it knows nothing of congestion.
bool takes_long(const AdviceRounds& rounds, const AdvisedFile& advised, std::size_t arms,
                double room_seconds) {
  constexpr double kDoubt = 6;
  const auto planned =
      rounds.plan({.name = "screen", .advised = advised}, {.seeds = 1, .arms = {"off"}});
  if (!planned) return false;
  const auto estimate =
      estimate_seconds(planned->cases, rounds.jobs(), std::min(kTrial_seconds, room_seconds / 60));
  return !estimate || smaller_to_fit(arms, 2, kDoubt * *estimate / 2, room_seconds) > 1;
}

/// Runs today's setting once. @return what such a case adds to the wall time [s]; nothing after a
/// fault or Ctrl-C, with the status to end with
std::optional<double> probe(AdviceRounds& rounds, const AdvisedFile& advised, int& status) {
  const Waited run;
  const auto round =
      rounds.ask({.name = "probe", .advised = advised}, {.seeds = 1, .arms = {"off"}});
  if (!round) return std::nullopt;
  status = round->status;
  if (status != kExitOk) return std::nullopt;
  return run.seconds() / static_cast<double>(rounds.jobs());
}

}  // namespace

FittingFile fit(AdviceRounds& rounds, const AdvisedFile& advised, double room_seconds,
                double left_seconds) {
  const Waited waited;
  FittingFile made{.advised = advised, .arms = usable_arms(advised, rounds.conf())};
  const std::size_t arms = made.arms.labels.size();
  const unsigned most = most_smaller(advised);
  if (arms == 1 || most == 1 || !takes_long(rounds, advised, arms, room_seconds)) return made;
  const auto each = probe(rounds, smaller_bursts(advised, most), made.status);
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
