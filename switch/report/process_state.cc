#include "switch/report/process_state.h"

#include <rte_mempool.h>

#include <algorithm>
#include <utility>

#include "common/config/process_checks.h"

namespace outrider::sw {

ProcessStateReader::ProcessStateReader(const SwitchProcessConfig& config,
                                       SwitchSnapshots& snapshots,
                                       std::vector<const rte_mempool*> pools)
    : snapshots_(snapshots), pools_(std::move(pools)), cpus_(cpus_of(config)) {
  for (const auto& sw : config.switches)
    for (const auto& port : sw.ports) {
      if (!port.device) continue;
      const auto device = std::ranges::find(config.devices, *port.device, &DeviceConfig::name);
      links_.push_back(
          {.names = {.switch_name = sw.name, .port_name = port.name, .device_name = *port.device},
           .device = static_cast<std::size_t>(device - config.devices.begin())});
    }
}

ProcessState ProcessStateReader::read() const {
  ProcessState state;
  for (std::size_t i = 0; i < cpus_.size(); ++i)
    state.lcores.push_back({.cpu = cpus_[i], .busy_ns = snapshots_.loop(i).read().busy_ns});
  const auto devices = snapshots_.read_devices();
  for (const Link& link : links_) {
    state.links.push_back(link.names);
    state.links.back().up = devices[link.device].up;
  }
  for (const rte_mempool* pool : pools_)
    state.pools.push_back(
        {.name = pool->name, .buffers = pool->size, .free_buffers = rte_mempool_avail_count(pool)});
  return state;
}

}  // namespace outrider::sw
