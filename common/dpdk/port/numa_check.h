#pragma once

#include <rte_mempool.h>

#include <string>
#include <vector>

#include "common/dpdk/port/port.h"

namespace outrider {

/// Returns what numa_crossings() says of the devices of this process, its lcores and the pool
/// that the devices receive into. @pre an Eal lives
[[nodiscard]] std::vector<std::string> numa_warnings(const std::vector<const Port*>& ports,
                                                     rte_mempool& rx_pool);

}  // namespace outrider
