#include "tools/lab/summary/bundle_histograms.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string_view>

#include "tools/lab/summary/bundle_columns.h"

namespace outrider::lab {

namespace {

/// Writes the lines of one histogram.
/// @param of  whose it is, and for flows the class of their sizes, as cells
void put_histogram(std::ostream& out, const RunName& name, std::string_view histogram,
                   const std::string& of, const Histogram& values) {
  std::array<char, 32> mean{};
  std::snprintf(mean.data(), mean.size(), "%.17g", values.mean());
  values.for_each_bucket([&](std::size_t index, std::uint64_t count) {
    out << name << ',' << histogram << ',' << of << ',' << Histogram::middle_of(index) << ','
        << count << ',' << values.min() << ',' << values.max() << ',' << mean.data() << '\n';
  });
}

std::string cells_of_class(const tg::FlowGroupReport& group, const tg::FlowClassReport& flows) {
  const bool open = flows.up_to_bytes == std::numeric_limits<std::uint64_t>::max();
  return csv_text(group.name) + ',' + std::to_string(flows.above_bytes) + ',' +
         (open ? std::string() : std::to_string(flows.up_to_bytes));
}

}  // namespace

std::string histograms_head() {
  return std::string(kRunColumns) +
         ",histogram,of,above_bytes,up_to_bytes,value,count,min,max,mean\n";
}

void write_histograms_of(std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
  for (const auto& group : result.traffic.flow_groups)
    for (const auto& flows : group.classes) {
      const std::string of = cells_of_class(group, flows);
      put_histogram(out, name, "flow_completion_ns", of, flows.completion_ns);
      put_histogram(out, name, "flow_slowdown_milli", of, flows.slowdown_milli);
    }
  constexpr const char* kNoClass = ",,";
  for (const auto& pair : result.traffic.requests)
    put_histogram(out, name, "request_latency_ns", csv_text(pair.name) + kNoClass, pair.latency_ns);
  const auto* queue = find_queue(result.switches, name.definition->measured_queue);
  if (queue == nullptr) return;
  const std::string of = csv_text(queue->switch_name + '.' + queue->port_name) + kNoClass;
  put_histogram(out, name, "burst_sojourn_ns", of, queue->burst_sojourn_ns);
  put_histogram(out, name, "interval_sojourn_ns", of, queue->interval_sojourn_ns);
}

}  // namespace outrider::lab
