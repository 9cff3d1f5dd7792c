#include "tools/lab/results/histogram_table.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace outrider::lab {

namespace {

/// Says of what a histogram is: a name, and of flows the class of their sizes.
struct Of {
  std::string_view name;
  Cell above_bytes{};
  Cell up_to_bytes{};
};

void write_histogram(RunRows& rows, std::string_view histogram, const Of& of,
                     const Histogram& values) {
  values.for_each_bucket([&](std::size_t index, std::uint64_t count) {
    rows.add(histogram, of.name, of.above_bytes, of.up_to_bytes, Histogram::middle_of(index), count,
             values.min(), values.max(), values.mean());
    rows.end();
  });
}

Of class_of(const tg::FlowGroupReport& group, const tg::FlowClassReport& flows) {
  const bool open = flows.up_to_bytes == std::numeric_limits<std::uint64_t>::max();
  return {group.name, cell_of(flows.above_bytes), open ? Cell{} : cell_of(flows.up_to_bytes)};
}

}  // namespace

std::vector<TableColumn> histogram_columns() {
  constexpr CellKind kInteger = CellKind::kInteger;
  return {{"histogram", CellKind::kText, "what the values are; its end is their unit"},
          {"of", CellKind::kText, "group of flows, pair of requests, or port"},
          {"above_bytes", kInteger, "of the class of sizes"},
          {"up_to_bytes", kInteger, "of the class of sizes; empty: the last"},
          {"value", kInteger, "middle of the bucket"},
          {"count", kInteger, "values in the bucket"},
          {"min", kInteger, "of the whole histogram"},
          {"max", kInteger, "of the whole histogram"},
          {"mean", CellKind::kReal, "of the whole histogram"}};
}

void write_histograms_of(RunRows& rows, Runtime, const RunName& name, const RunResult& result) {
  for (const auto& group : result.traffic.flow_groups)
    for (const auto& flows : group.classes) {
      const Of of = class_of(group, flows);
      write_histogram(rows, "flow_completion_ns", of, flows.completion_ns);
      write_histogram(rows, "flow_slowdown_milli", of, flows.slowdown_milli);
    }
  for (const auto& pair : result.traffic.requests)
    write_histogram(rows, "request_latency_ns", {pair.name}, pair.latency_ns);
  const auto* queue = find_queue(result.switches, name.definition->measured_queue);
  if (queue == nullptr) return;
  const std::string port = queue->switch_name + '.' + queue->port_name;
  write_histogram(rows, "burst_sojourn_ns", {port}, queue->burst_sojourn_ns);
  write_histogram(rows, "interval_sojourn_ns", {port}, queue->interval_sojourn_ns);
}

}  // namespace outrider::lab
