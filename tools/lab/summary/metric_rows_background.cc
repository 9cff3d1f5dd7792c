#include <cmath>

#include "tools/lab/summary/metric_rows.h"

// The effects of bursts on the background and on paths.

namespace outrider::lab {

namespace background_rows {

using enum Aggregate;
using enum Unit;

/// A cost per iteration; defined on a fixed schedule.
template <double BackgroundCost::*kBytes>
constexpr RatioOfSums cost_per_window{
    [](const CaseSummary& c) { return c.background_cost.*kBytes; },
    [](const CaseSummary& c) { return static_cast<double>(c.background_cost.windows); }};

/// Returns transfer over lost bytes of a closed loop, of all runs together; NaN if they lose next
/// to nothing.
double gained_per_lost(Resample cases) {
  double gained = 0, lost = 0, reference = 0;
  for (const CaseSummary* c : cases) {
    const BackgroundCost& cost = c->background_cost;
    if (cost.basis != CostBasis::kWholeRun || std::isnan(cost.transfer_bytes)) continue;
    gained += cost.transfer_bytes;
    lost += cost.lost_bytes;
    reference += cost.reference_bytes;
  }
  return lost > 0 && lost >= kLeastLost * reference ? gained / lost : kNotDefined;
}

/// Returns the payload of the pushes in the time over which the lost bytes are counted: the costs'
/// windows, or in a closed loop as long as the baseline's run.
double compared_push_bytes(const CaseSummary& c) {
  const CaseMetrics& m = c.metrics;
  const auto iterations = static_cast<double>(m.iterations - m.noise.iterations_excluded);
  if (c.background_cost.basis == CostBasis::kWindows && iterations > 0)
    return m.push_bytes / iterations * static_cast<double>(c.background_cost.windows);
  return m.push_bytes * c.background_cost.time_scale;
}

template <std::vector<double> BackgroundFloor::*kValues>
constexpr Pooled floor_values{[](const CaseSummary& c) -> const std::vector<double>& {
  return c.metrics.background_floor.*kValues;
}};

/// Returns Jain's index (Jain, Chiu, Hawe 1984) of the bytes that background's flows delivered.
std::vector<double> fairness(const CaseRun& run) {
  double flows = 0, sum = 0, squares = 0;
  for (const auto& flow : run.result.traffic.flows) {
    if (flow.traffic_class != TrafficClass::kBackground) continue;
    const auto bytes = static_cast<double>(flow.delivered_bytes);
    ++flows;
    sum += bytes;
    squares += bytes * bytes;
  }
  if (squares <= 0) return {};
  return {sum * sum / (flows * squares)};
}

constexpr Metric kRows[] = {
    {.name = "background_lost_fraction",
     .unit = kShare,
     .help = "background bytes lost against the baseline, of those that it delivered in the "
             "costs' windows",
     .source = RatioOfSums{[](const CaseSummary& c) { return c.background_cost.lost_bytes; },
                           [](const CaseSummary& c) { return c.background_cost.reference_bytes; }},
     .change = false,
     .column = {"lost"}},
    {.name = "background_lost_bytes_per_iteration",
     .unit = kBytes,
     .help = "background bytes lost against the baseline",
     .source = cost_per_window<&BackgroundCost::lost_bytes>,
     .change = false,
     .column = {"lost"}},
    {.name = "background_transfer_bytes_per_iteration",
     .unit = kBytes,
     .help = "bytes that the job carried more than in the baseline",
     .source = cost_per_window<&BackgroundCost::transfer_bytes>,
     .change = false,
     .column = {"transfer"}},
    {.name = "background_waste_bytes_per_iteration",
     .unit = kBytes,
     .help = "capacity of the measured port left idle more than in the baseline",
     .source = cost_per_window<&BackgroundCost::waste_bytes>,
     .change = false,
     .column = {"waste"}},
    {.name = "background_unexplained_bytes_per_iteration",
     .unit = kBytes,
     .help = "lost minus transfer minus waste",
     .source = cost_per_window<&BackgroundCost::unexplained_bytes>,
     .change = false,
     .column = {"unexplained"}},
    {.name = "ddl_bytes_gained_per_background_byte_lost",
     .unit = kNumber,
     .help = "transfer over lost bytes, in a closed loop; of all seeds together, where they lose "
             "0.1 % of the baseline's bytes or more",
     .source = OfRuns{&gained_per_lost},
     .change = false,
     .column = {"gained", "/lost"}},
    {.name = "background_lowest_share",
     .unit = kShare,
     .help = "lowest goodput of the background around an iteration, of the goodput before it; mean "
             "of the iterations",
     .source =
         PerRun{[](const CaseSummary& c) { return c.metrics.background_dip.lowest_share.mean; }},
     .column = {"lowest", "% of before"}},
    {.name = "background_recovery_seconds",
     .unit = kSeconds,
     .help = "gradients ready until the background is back at 95 % of its goodput; median of the "
             "iterations",
     .source = PerRun{[](const CaseSummary& c) {
       return c.metrics.background_dip.recovery_seconds.median;
     }},
     .column = {"95 % again"}},
    {.name = "regulated_share",
     .unit = kShare,
     .help = "time of the run in which the measured queue was regulated",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.queue.regulated_share; }},
     .change = false,
     .column = {"regulated"}},
    {.name = "path_mmr",
     .unit = kNumber,
     .help = "frame bytes of the busiest of equal-cost ports over their mean; 1 is even",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.paths.mmr; }},
     .change = false,
     .column = {"MMR"},
     .without_job = true},
    {.name = "path_jain_index",
     .unit = kNumber,
     .help = "Jain's index of the frame bytes of the same ports; 1 is even",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.paths.jain_index; }},
     .change = false,
     .column = {"Jain"},
     .without_job = true},
    {.name = "background_bytes_lost_per_burst_byte",
     .unit = kNumber,
     .help = "background bytes lost against the baseline, over the payload that the workers pushed "
             "in the same time",
     .source = RatioOfSums{[](const CaseSummary& c) { return c.background_cost.lost_bytes; },
                           compared_push_bytes},
     .change = false,
     .column = {"lost", "B/burst B"}},
    {.name = "iterations_not_recovered",
     .unit = kNumber,
     .help = "iterations after which the background was not back at 95 % of its goodput before the "
             "next began, or the run ended; no recovery time is of them",
     .aggregate = kSum,
     .source = PerRun{[](const CaseSummary& c) {
       return static_cast<double>(c.metrics.background_dip.not_recovered);
     }},
     .change = false,
     .column = {"never", "back"}},
    {.name = "background_recovery_seconds_median",
     .unit = kSeconds,
     .help = "gradients ready until the background is back at 95 % of its goodput; median of the "
             "iterations",
     .aggregate = kMedian,
     .source = PerRun{[](const CaseSummary& c) {
       return c.metrics.background_dip.recovery_seconds.median;
     }},
     .column = {"95 % again", "ms, median"}},
    {.name = "background_share_mean",
     .unit = kShare,
     .help = "of the measured link's time, headers and gaps included, what background has between "
             "an iteration's first packet and its last",
     .source = RatioOfSums{
         [](const CaseSummary& c) { return c.metrics.background_floor.used_seconds; },
         [](const CaseSummary& c) { return c.metrics.background_floor.possible_seconds; }},
     .column = {"share", "% mean"}},
    {.name = "background_share_least",
     .unit = kShare,
     .help = "the same in the ten base round trips of an iteration that have least of it",
     .aggregate = kLeast,
     .source = floor_values<&BackgroundFloor::least_shares>,
     .column = {"share", "% least"}},
    {.name = "background_share_least_median",
     .unit = kShare,
     .help = "the same in the ten base round trips of an iteration that have least of it",
     .aggregate = kMedian,
     .source = floor_values<&BackgroundFloor::least_shares>,
     .column = {"least", "% median"}},
    {.name = "iterations_below_floor",
     .unit = kNumber,
     .help = "iterations in which that is less than the floor that `window` is set to",
     .aggregate = kSum,
     .source = floor_values<&BackgroundFloor::below_floor>,
     .change = false,
     .column = {"below", "floor"}},
    {.name = "background_return_rtts_median",
     .unit = kNumber,
     .help = "base round trips from the last delivery to the first ten with 95 % of the "
             "background's goodput before START, 200 at most",
     .aggregate = kMedian,
     .source = floor_values<&BackgroundFloor::return_rtts>,
     .change = false,
     .column = {"back", "RTTs, median"}},
    {.name = "background_return_rtts_p99",
     .unit = kNumber,
     .help = "base round trips from the last delivery to the first ten with 95 % of the "
             "background's goodput before START, 200 at most",
     .aggregate = kP99,
     .source = floor_values<&BackgroundFloor::return_rtts>,
     .change = false,
     .column = {"back", "RTTs, p99"}},
    {.name = "background_return_rtts_max",
     .unit = kNumber,
     .help = "base round trips from the last delivery to the first ten with 95 % of the "
             "background's goodput before START, 200 at most",
     .aggregate = kMost,
     .source = floor_values<&BackgroundFloor::return_rtts>,
     .change = false,
     .column = {"back", "RTTs, most"}},
    {.name = "background_first_share_median",
     .unit = kShare,
     .help = "goodput of the background in the first ten base round trips after the last delivery, "
             "of that before START",
     .aggregate = kMedian,
     .source = floor_values<&BackgroundFloor::first_shares>,
     .change = false,
     .column = {"first", "% of before"}},
    {.name = "background_fairness",
     .unit = kNumber,
     .help = "Jain's index of the bytes that the flows of background delivered: 1 is even, "
             "1 / n is one flow of n",
     .source = FromRun{fairness},
     .column = {"fairness"},
     .without_job = true},
};

}  // namespace background_rows

std::span<const Metric> rows_of_background() { return background_rows::kRows; }

}  // namespace outrider::lab
