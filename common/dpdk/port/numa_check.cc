#include "common/dpdk/port/numa_check.h"

#include "common/dpdk/eal/lcores.h"
#include "common/dpdk/packet/mempool.h"
#include "common/machine/numa_nodes.h"

namespace outrider {

std::vector<std::string> numa_warnings(const std::vector<const Port*>& ports,
                                       rte_mempool& rx_pool) {
  std::vector<DevicePlace> places;
  places.reserve(ports.size());
  for (const Port* port : ports)
    places.push_back(
        {.name = port->name(), .node = port->numa_node(), .buffers_node = numa_node_of(rx_pool)});
  return numa_crossings(MachineTree("/"), places, cpus_of_lcores());
}

}  // namespace outrider
