#include "tools/lab/summary/group_figures.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace outrider::lab {

namespace {

constexpr GroupFigure kFigures[] = {
    {.name = "offered_bits_per_second",
     .unit = Unit::kBitsPerSecond,
     .help = "payload of the flows that were due, of a capture frames that left; long flows and "
             "requests offer what the network takes",
     .value = &GroupMetrics::offered_bits_per_second,
     .column = {.heading = "offered"}},
    {.name = "goodput_bits_per_second",
     .unit = Unit::kBitsPerSecond,
     .help = "payload delivered in order; of requests those answered and their answers, of a "
             "capture frames that arrived",
     .value = &GroupMetrics::goodput_bits_per_second,
     .change = true,
     .column = {.heading = "goodput"}},
    {.name = "undelivered_fraction",
     .unit = Unit::kShare,
     .help = "of what was offered, at the end of the run",
     .value = &GroupMetrics::undelivered_fraction,
     .column = {.heading = "undelivered"}},
    {.name = "share",
     .unit = Unit::kShare,
     .help = "of the goodput of all groups",
     .value = &GroupMetrics::share,
     .column = {.heading = "share"}},
    {.name = "fairness",
     .help = "Jain's index of what its long flows delivered",
     .value = &GroupMetrics::fairness,
     .column = {.heading = "fairness"}},
    {.name = "retransmitted_packets",
     .unit = Unit::kPackets,
     .help = "sent again by its flows",
     .value = &GroupMetrics::retransmitted_packets,
     .column = {.heading = "resent"}},
    {.name = "flows_completed",
     .help = "flows that come and go whose last byte was delivered",
     .value = &GroupMetrics::flows_completed,
     .column = {.heading = "completed", .unit = "flows"}},
    {.name = "flows_unfinished",
     .help = "those that were open at the end, failed, or were not offered; no time is of them",
     .value = &GroupMetrics::flows_unfinished,
     .column = {.heading = "unfinished", .unit = "flows"}},
    {.name = "flow_completion_seconds_median",
     .unit = Unit::kSeconds,
     .help = "arrival to last byte in order of flows of all sizes",
     .value = &GroupMetrics::flow_completion_seconds_median,
     .change = true,
     .column = {.heading = "flows", .unit = "ms, median"}},
    {.name = "flow_completion_seconds_p99",
     .unit = Unit::kSeconds,
     .help = "arrival to last byte in order of flows of all sizes",
     .value = &GroupMetrics::flow_completion_seconds_p99,
     .change = true,
     .column = {.heading = "flows", .unit = "ms, p99"}},
    {.name = "flow_slowdown_median",
     .help = "completion over ideal",
     .value = &GroupMetrics::flow_slowdown_median,
     .change = true,
     .column = {.heading = "slowdown", .unit = "median"}},
    {.name = "flow_slowdown_p99",
     .help = "completion over ideal",
     .value = &GroupMetrics::flow_slowdown_p99,
     .change = true,
     .column = {.heading = "slowdown", .unit = "p99"}},
    {.name = "requests_completed",
     .help = "requests that were answered",
     .value = &GroupMetrics::requests_completed,
     .change = true,
     .column = {.heading = "requests", .unit = "answered"}},
    {.name = "request_latency_seconds_median",
     .unit = Unit::kSeconds,
     .help = "first byte of a request written to last byte of its answer in order",
     .value = &GroupMetrics::request_latency_seconds_median,
     .change = true,
     .column = {.heading = "requests", .unit = "ms, median"}},
    {.name = "request_latency_seconds_p99",
     .unit = Unit::kSeconds,
     .help = "first byte of a request written to last byte of its answer in order",
     .value = &GroupMetrics::request_latency_seconds_p99,
     .change = true,
     .column = {.heading = "requests", .unit = "ms, p99"}},
    {.name = "capture_frames_lost_fraction",
     .unit = Unit::kShare,
     .help = "dropped, or on the way at the end, of the frames that were played",
     .value = &GroupMetrics::capture_frames_lost_fraction,
     .column = {.heading = "frames lost"}},
};

}  // namespace

std::span<const GroupFigure> group_figures() { return kFigures; }

const GroupFigure& group_figure_named(std::string_view name) {
  const auto* it = std::ranges::find(kFigures, name, &GroupFigure::name);
  if (it == std::ranges::end(kFigures))
    throw std::out_of_range("no figure of groups: " + std::string(name));
  return *it;
}

Column column_of(const GroupFigure& figure) {
  return with_defaults(figure.column, figure.name, figure.unit);
}

}  // namespace outrider::lab
