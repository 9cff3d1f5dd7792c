#include "tools/lab/summary/table_notes.h"

#include <algorithm>
#include <utility>

#include "tools/lab/measure/job_samples.h"
#include "tools/lab/measure/paper_reference.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

namespace {

/// Returns the sum of a count over the cases of an arm.
template <class CountOf>
std::uint64_t total(const ArmSummary& arm, const Summary& summary, CountOf count_of) {
  std::uint64_t sum = 0;
  for (const std::size_t i : arm.cases) sum += std::uint64_t{count_of(summary.cases[i])};
  return sum;
}

/// Returns whether communication took more than 20 times what it takes without background.
bool is_starved(const CaseSummary& c) {
  constexpr double kStarvedTimes = 20;
  const JobSamples* own = &c.metrics.samples.communication_seconds;
  const JobSamples* alone = &c.network_alone.communication_seconds;
  return mean_of_jobs({&own, 1}, {&alone, 1}, [](auto times, auto of_alone) {
           return median(std::move(times)) / median(std::move(of_alone));
         }) > kStarvedTimes;
}

struct Warning {
  const char* text;
  std::uint64_t (*count)(const CaseSummary&);
};

constexpr Warning kWarnings[] = {
    {"runs whose packets do not add up: do not use them",
     [](const CaseSummary& c) { return std::uint64_t{!c.metrics.ledger_balanced}; }},
    {"flows of background were never offered: do not use these runs",
     [](const CaseSummary& c) { return c.metrics.flow_times.not_offered; }},
    {"flows of a list of background begin after the end of the run, which had less than the list "
     "says",
     [](const CaseSummary& c) { return c.metrics.flow_times.after_end; }},
    {"runs whose background delivered nothing from the first measured burst on, so that bursts met "
     "none: let it send until they end",
     [](const CaseSummary& c) {
       return std::uint64_t{c.metrics.has_job && c.metrics.background_silent};
     }},
    {"runs in which background left the job less than 5 % of what it gets alone, as "
     "communication took more than 20 times as long: see that all senders of its queue obey ECN if "
     "the job does, or give it a queue of its own",
     [](const CaseSummary& c) { return std::uint64_t{is_starved(c)}; }},
    {"times a connection waited for the generator's memory: times are too long",
     [](const CaseSummary& c) { return c.metrics.memory_waits; }},
    {"runs longer than their time series, which end before them",
     [](const CaseSummary& c) { return std::uint64_t{c.metrics.series_cut}; }},
    {"packets are in no capture: they left after the first `observe.capture_packets` from "
     "`observe.capture_from` on",
     [](const CaseSummary& c) { return c.metrics.packets_not_captured; }},
    {"flows and requests have no row of their own: they came after the first `observe.flows` and "
     "`observe.requests`",
     [](const CaseSummary& c) { return c.metrics.records_not_kept; }},
    {"runs that name no measured queue, as none kept records of bursts",
     [](const CaseSummary& c) {
       return std::uint64_t{c.metrics.has_job && !c.metrics.queue.found};
     }},
    {"iterations never completed; they are left out of the times",
     [](const CaseSummary& c) { return c.metrics.incomplete; }},
    {"bursts were not over when the next one was due",
     [](const CaseSummary& c) { return c.metrics.late; }},
    {"bursts beyond the records of the measured queue",
     [](const CaseSummary& c) { return c.metrics.queue.bursts_not_recorded; }},
    {"packets of a lossless class were dropped because the headroom was full: the class was not "
     "lossless; give it more headroom_bytes",
     [](const CaseSummary& c) { return c.metrics.lossless_drops.headroom; }},
    {"packets of a lossless class were dropped by the watchdog of a pause that was too long",
     [](const CaseSummary& c) { return c.metrics.lossless_drops.watchdog; }},
    {"packets of a lossless class were dropped at a limit of their queue or buffer, or by its "
     "marker: "
     "the class was not lossless",
     [](const CaseSummary& c) { return c.metrics.lossless_drops.queue; }},
    {"times regulation or grants were armed in runs in which they then did nothing: these runs say "
     "nothing about the remedy: background was too short or too little, or regulation ended before "
     "it waited",
     [](const CaseSummary& c) { return c.metrics.signals.armed_in_vain; }},
    {"STARTs were not answered in time",
     [](const CaseSummary& c) { return c.metrics.signals.ack_timeouts; }},
    {"runs with a burst longer than the time that costs are taken over",
     [](const CaseSummary& c) { return std::uint64_t{c.background_cost.window_exceeded}; }},
    {"iterations not covered by both runs; they are left out of the costs",
     [](const CaseSummary& c) { return c.background_cost.windows_left_out; }},
    {"packets lost before the switch saw them",
     [](const CaseSummary& c) {
       const CaseMetrics& m = c.metrics;
       return m.device_rx_missed.value_or(0) + m.device_rx_nombuf.value_or(0) +
              m.device_rx_errors.value_or(0);
     }},
    {"runs in which a device of the switch does not count what it loses",
     [](const CaseSummary& c) { return std::uint64_t{!c.metrics.devices_count}; }},
    {"iterations during which a poll loop was away too long",
     [](const CaseSummary& c) { return c.metrics.noise.iterations_flagged; }},
    {"of these left out", [](const CaseSummary& c) { return c.metrics.noise.iterations_excluded; }},
};

}  // namespace

std::string cost_windows_text(const ArmSummary& arm, const Summary& summary) {
  for (const std::size_t i : arm.cases) {
    const BackgroundCost& cost = summary.cases[i].background_cost;
    if (cost.basis == CostBasis::kWindows)
      return ", in [due - " + shown(cost.lead_seconds * 1e3) + " ms, due + " +
             shown(cost.window_seconds * 1e3) + " ms]";
    if (cost.basis == CostBasis::kWholeRun) return ": closed loop, rates over the whole run";
  }
  return "";
}

std::string table_notes(const Summary& summary) {
  std::string text = "\n";
  if (!has_job(summary.arms))
    return text +
           "No job: the figures are of background, over the whole run. A slowdown is the "
           "completion time over that in an empty network.\n";
  if (!summary.cases.empty()) {
    const MeasuredQueue& queue = summary.cases.front().metrics.queue;
    text +=
        "Queue: " + (queue.found ? queue.switch_name + "." + queue.port_name + ", data" : "none") +
        "; start queue: background that an iteration's first packet finds.\n";
    text +=
        "burst and communic. are medians, the rest means; changes are ratios of these, paired by "
        "seed;\nconfidence resamples seeds. Change of background: what it lost in the costs' "
        "time.\n";
    if (!summary.cases.front().metrics.jobs.each.empty())
      text += "Times are taken of each job by itself; a row has the mean of the jobs.\n";
  }
  if (is_papers_experiment(summary.experiment))
    text += "paper: Sensors 2021, 21(1), 174; times and throughputs read off its bars.\n";
  return text;
}

std::vector<ArmWarning> warnings_of(const Summary& summary) {
  std::vector<ArmWarning> all;
  for (const auto& arm : summary.arms)
    for (const auto& warning : kWarnings)
      if (const auto n = total(arm, summary, warning.count); n > 0)
        all.push_back({arm.label, arm.point, n, warning.text});
  return all;
}

}  // namespace outrider::lab
