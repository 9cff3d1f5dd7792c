#include <cmath>

#include "tools/lab/summary/metric_rows.h"

// Completion of background's flows that come and go, by their size; its requests and captures.

namespace outrider::lab {

namespace flow_rows {

using enum Aggregate;
using enum Unit;

bool flows_come_and_go(const CaseMetrics& m) { return m.flow_times.arrivals > 0; }

template <FlowSize kSize>
constexpr Distribution completion{
    [](const CaseSummary& c) -> const FilledBuckets& {
      return c.metrics.flow_times.completion_ns[static_cast<std::size_t>(kSize)];
    },
    1e-9};

template <FlowSize kSize>
constexpr Distribution slowdown{
    [](const CaseSummary& c) -> const FilledBuckets& {
      return c.metrics.flow_times.slowdown_milli[static_cast<std::size_t>(kSize)];
    },
    1e-3};

bool asks(const CaseMetrics& m) { return m.request_times.pairs > 0; }
bool plays_a_capture(const CaseMetrics& m) { return m.captures.sent > 0; }

constexpr Distribution request_latency{
    [](const CaseSummary& c) -> const FilledBuckets& { return c.metrics.request_times.latency_ns; },
    1e-9};

double frames_sent(const CaseSummary& c) { return static_cast<double>(c.metrics.captures.sent); }
double frames_lost(const CaseSummary& c) {
  return static_cast<double>(c.metrics.captures.sent - c.metrics.captures.received);
}

bool has_shares(const CaseMetrics& m) { return !std::isnan(m.flow_shares.jain_index); }

constexpr Metric kRows[] = {
    {.name = "small_flow_completion_seconds_median",
     .unit = kSeconds,
     .help = "arrival to last byte in order of a flow of background of at most 100 kB",
     .aggregate = kMedian,
     .source = completion<FlowSize::kSmall>,
     .column = {"<= 100 kB", "ms, median"},
     .there = flows_come_and_go},
    {.name = "small_flow_completion_seconds_p99",
     .unit = kSeconds,
     .help = "arrival to last byte in order of a flow of background of at most 100 kB",
     .aggregate = kP99,
     .source = completion<FlowSize::kSmall>,
     .column = {"<= 100 kB", "ms, p99"},
     .there = flows_come_and_go},
    {.name = "medium_flow_completion_seconds_median",
     .unit = kSeconds,
     .help =
         "arrival to last byte in order of a flow of background of more than 100 kB, at most 1 MB",
     .aggregate = kMedian,
     .source = completion<FlowSize::kMedium>,
     .column = {"<= 1 MB", "ms, median"},
     .there = flows_come_and_go},
    {.name = "medium_flow_completion_seconds_p99",
     .unit = kSeconds,
     .help =
         "arrival to last byte in order of a flow of background of more than 100 kB, at most 1 MB",
     .aggregate = kP99,
     .source = completion<FlowSize::kMedium>,
     .column = {"<= 1 MB", "ms, p99"},
     .there = flows_come_and_go},
    {.name = "large_flow_completion_seconds_median",
     .unit = kSeconds,
     .help = "arrival to last byte in order of a flow of background of more than 1 MB",
     .aggregate = kMedian,
     .source = completion<FlowSize::kLarge>,
     .column = {"> 1 MB", "ms, median"},
     .there = flows_come_and_go},
    {.name = "large_flow_completion_seconds_p99",
     .unit = kSeconds,
     .help = "arrival to last byte in order of a flow of background of more than 1 MB",
     .aggregate = kP99,
     .source = completion<FlowSize::kLarge>,
     .column = {"> 1 MB", "ms, p99"},
     .there = flows_come_and_go},
    {.name = "small_flow_slowdown_median",
     .unit = kNumber,
     .help = "completion over the ideal of a flow of background of at most 100 kB",
     .aggregate = kMedian,
     .source = slowdown<FlowSize::kSmall>,
     .column = {"<= 100 kB", "median"},
     .there = flows_come_and_go},
    {.name = "small_flow_slowdown_p99",
     .unit = kNumber,
     .help = "completion over the ideal of a flow of background of at most 100 kB",
     .aggregate = kP99,
     .source = slowdown<FlowSize::kSmall>,
     .column = {"<= 100 kB", "p99"},
     .there = flows_come_and_go},
    {.name = "medium_flow_slowdown_median",
     .unit = kNumber,
     .help = "completion over the ideal of a flow of background of more than 100 kB, at most 1 MB",
     .aggregate = kMedian,
     .source = slowdown<FlowSize::kMedium>,
     .column = {"<= 1 MB", "median"},
     .there = flows_come_and_go},
    {.name = "medium_flow_slowdown_p99",
     .unit = kNumber,
     .help = "completion over the ideal of a flow of background of more than 100 kB, at most 1 MB",
     .aggregate = kP99,
     .source = slowdown<FlowSize::kMedium>,
     .column = {"<= 1 MB", "p99"},
     .there = flows_come_and_go},
    {.name = "large_flow_slowdown_median",
     .unit = kNumber,
     .help = "completion over the ideal of a flow of background of more than 1 MB",
     .aggregate = kMedian,
     .source = slowdown<FlowSize::kLarge>,
     .column = {"> 1 MB", "median"},
     .there = flows_come_and_go},
    {.name = "large_flow_slowdown_p99",
     .unit = kNumber,
     .help = "completion over the ideal of a flow of background of more than 1 MB",
     .aggregate = kP99,
     .source = slowdown<FlowSize::kLarge>,
     .column = {"> 1 MB", "p99"},
     .there = flows_come_and_go},
    {.name = "small_flows_completed",
     .unit = kNumber,
     .help = "flows of background of at most 100 kB that were delivered",
     .aggregate = kCount,
     .source = completion<FlowSize::kSmall>,
     .change = false,
     .column = {"<= 100 kB", "flows"},
     .there = flows_come_and_go},
    {.name = "medium_flows_completed",
     .unit = kNumber,
     .help = "flows of background of more than 100 kB, at most 1 MB that were delivered",
     .aggregate = kCount,
     .source = completion<FlowSize::kMedium>,
     .change = false,
     .column = {"<= 1 MB", "flows"},
     .there = flows_come_and_go},
    {.name = "large_flows_completed",
     .unit = kNumber,
     .help = "flows of background of more than 1 MB that were delivered",
     .aggregate = kCount,
     .source = completion<FlowSize::kLarge>,
     .change = false,
     .column = {"> 1 MB", "flows"},
     .there = flows_come_and_go},
    {.name = "flows_unfinished",
     .unit = kNumber,
     .help = "flows of background that failed or were open at the end; no time is of them",
     .aggregate = kSum,
     .source = PerRun{[](const CaseSummary& c) {
       return static_cast<double>(c.metrics.flow_times.unfinished);
     }},
     .change = false,
     .column = {"not", "done"},
     .there = flows_come_and_go},
    {.name = "flows_not_offered",
     .unit = kNumber,
     .help = "flows of background that never began, because the generator had no place or no port "
             "for them; a run with one fails",
     .aggregate = kSum,
     .source = PerRun{[](const CaseSummary& c) {
       return static_cast<double>(c.metrics.flow_times.not_offered);
     }},
     .change = false,
     .column = {"not", "offered"},
     .there = flows_come_and_go},
    {.name = "flows_after_end",
     .unit = kNumber,
     .help =
         "flows of a list that would begin after the end of the run, and are in no other figure",
     .aggregate = kSum,
     .source = PerRun{[](const CaseSummary& c) {
       return static_cast<double>(c.metrics.flow_times.after_end);
     }},
     .change = false,
     .column = {"after", "the end"},
     .there = flows_come_and_go},
    {.name = "request_latency_seconds_median",
     .unit = kSeconds,
     .help = "first byte of a request of background written to last byte of its answer in order",
     .aggregate = kMedian,
     .source = request_latency,
     .column = {"requests", "ms, median"},
     .there = asks},
    {.name = "request_latency_seconds_p99",
     .unit = kSeconds,
     .help = "first byte of a request of background written to last byte of its answer in order",
     .aggregate = kP99,
     .source = request_latency,
     .column = {"requests", "ms, p99"},
     .there = asks},
    {.name = "requests_completed",
     .unit = kNumber,
     .help = "requests of background that were completely answered",
     .aggregate = kCount,
     .source = request_latency,
     .change = false,
     .column = {"requests", "answered"},
     .there = asks},
    {.name = "request_connections_broken",
     .unit = kNumber,
     .help = "connections of requests that were reset, refused or given up",
     .aggregate = kSum,
     .source = PerRun{[](const CaseSummary& c) {
       return static_cast<double>(c.metrics.request_times.broken);
     }},
     .change = false,
     .column = {"requests", "broken"},
     .there = asks},
    {.name = "capture_frames_lost_fraction",
     .unit = kShare,
     .help = "frames of a capture that were dropped, or still on the way when the run ended, of "
             "those played",
     .source = RatioOfSums{frames_lost, frames_sent},
     .change = false,
     .column = {"capture", "% lost"},
     .there = plays_a_capture},
    {.name = "flow_convergence_seconds",
     .unit = kSeconds,
     .help =
         "begin of the last flow to the end of the first 10 ms in which each flow got 10 % more "
         "or less than their mean, by samples of connections; undefined if a run has none",
     .source =
         PerRun{[](const CaseSummary& c) { return c.metrics.flow_shares.convergence_seconds; },
                true},
     .column = {"converged", "ms"},
     .there = has_shares,
     .without_job = true},
    {.name = "flow_jain_index",
     .unit = kNumber,
     .help = "Jain's index of what the flows got in the second half of the time in which all of "
             "them had data, by samples of connections; 1 is even",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.flow_shares.jain_index; }},
     .change = false,
     .column = {"Jain", "of flows"},
     .there = has_shares,
     .without_job = true},
};

}  // namespace flow_rows

std::span<const Metric> rows_of_flows() { return flow_rows::kRows; }

}  // namespace outrider::lab
