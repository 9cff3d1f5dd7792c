#include "switch/control/metrics.h"

#include "switch/report/figures.h"

namespace outrider::sw {

std::vector<MetricRecord> metrics_of(const SwitchReport& report, const ProcessState& state) {
  std::vector<MetricRecord> all{{"outrider_switch_", {}, figures_of(report)}};
  for (const auto& queue : report.queues)
    all.push_back({"outrider_queue_",
                   {{"switch", queue.switch_name},
                    {"port", queue.port_name},
                    {"queue", std::to_string(queue.queue)}},
                   figures_of(queue)});
  for (const auto& lcore : state.lcores)
    all.push_back({"outrider_lcore_", {{"lcore", std::to_string(lcore.cpu)}}, figures_of(lcore)});
  for (const auto& link : state.links)
    all.push_back(
        {"outrider_port_",
         {{"switch", link.switch_name}, {"port", link.port_name}, {"device", link.device_name}},
         figures_of(link)});
  for (const auto& pool : state.pools)
    all.push_back({"outrider_pool_", {{"pool", pool.name}}, figures_of(pool)});
  return all;
}

}  // namespace outrider::sw
