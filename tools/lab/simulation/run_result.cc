#include "tools/lab/simulation/run_result.h"

#include <algorithm>
#include <cassert>

#include "tools/lab/simulation/link_results.h"

namespace outrider::lab {

void trim(CaseRun& run) {
  assert(run.definition != nullptr);
  if (run.definition->link_results) run.result.links = links_of(*run.definition, run.result);
  run.result.slices = {};
  const sw::QueueReport* measured = find_queue(run.result.switches, run.definition->measured_queue);
  const auto has_series = [&](const sw::QueueReport& queue) {  // the cost is of the whole port
    const bool at_measured_port = measured != nullptr &&
                                  queue.switch_name == measured->switch_name &&
                                  queue.port_name == measured->port_name;
    return at_measured_port || is_observed(*run.definition, queue);
  };
  const auto drop_series = [&](sw::QueueReport& queue) {
    if (!has_series(queue)) queue.bins = {};
    queue.bursts = {};
    queue.burst_sojourn_ns = Histogram{};
    queue.interval_sojourn_ns = Histogram{};
  };
  for (auto& queue : run.result.switches.queues)
    if (&queue != measured) drop_series(queue);
  if (!run.alone) return;
  run.alone->slices = {};
  run.alone->switches.queues = {};
  run.alone->traffic.bins = {};
}

bool is_observed(const Case& definition, const sw::QueueReport& queue) {
  const auto& ports = definition.observed.queues;
  return std::ranges::count(ports, queue.switch_name + '.' + queue.port_name) != 0;
}

const sw::QueueReport* worst_queue(const sw::SwitchReport& report) {
  const sw::QueueReport* worst = nullptr;
  std::uint64_t longest_ns = 0;
  for (const auto& queue : report.queues) {
    std::uint64_t waited_ns = 0;
    for (const auto& burst : queue.bursts) waited_ns += burst.sojourn_ns;
    if (queue.bursts.empty()) continue;  // the first of all queues is none that bursts wait in
    if (worst != nullptr && waited_ns <= longest_ns) continue;
    worst = &queue;
    longest_ns = waited_ns;
  }
  return worst;
}

const sw::QueueReport* find_queue(const sw::SwitchReport& report,
                                  const std::string& switch_dot_port) {
  if (switch_dot_port == kWorstQueue) return worst_queue(report);
  for (const auto& queue : report.queues)
    if (queue.switch_name + "." + queue.port_name == switch_dot_port) return &queue;
  return nullptr;
}

}  // namespace outrider::lab
