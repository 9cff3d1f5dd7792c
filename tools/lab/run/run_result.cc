#include "tools/lab/run/run_result.h"

#include <cassert>

namespace outrider::lab {

void trim(CaseRun& run) {
  assert(run.definition != nullptr);
  const auto drop_series = [](sw::QueueReport& queue) {
    queue.bins = {};
    queue.bursts = {};
    queue.burst_sojourn_ns = Histogram{};
    queue.interval_sojourn_ns = Histogram{};
  };
  const sw::QueueReport* measured = find_queue(run.result.switches, run.definition->measured_queue);
  for (auto& queue : run.result.switches.queues)
    if (&queue != measured) drop_series(queue);
  if (!run.alone) return;
  run.alone->switches.queues = {};
  run.alone->traffic.bins = {};
}

const sw::QueueReport* find_queue(const sw::SwitchReport& report,
                                  const std::string& switch_dot_port) {
  for (const auto& queue : report.queues)
    if (queue.switch_name + "." + queue.port_name == switch_dot_port) return &queue;
  return nullptr;
}

}  // namespace outrider::lab
