#include "tools/lab/world/run_virtual.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "switch/config/config_toml.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/world/drive.h"
#include "tools/lab/world/partition.h"
#include "tools/lab/world/virtual_world.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {

std::uint32_t buffers_needed(const Case& c) {
  const std::uint64_t sum = std::uint64_t{required_mbufs(c.switches)} + required_mbufs(c.traffic);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

RunResult run_virtual(const Case& c, rte_mempool& pool, const StopCheck& stop,
                      std::uint32_t tiles) {
  std::optional<Partition> partition;  // streams are not cut
  if (c.traffic.streams.empty())
    partition = make_partition(c.switches, c.traffic, 1, CutKind::kBlocks, tiles);
  const auto in_use_before = rte_mempool_in_use_count(&pool);
  RunResult result;
  {
    const auto keys = virtual_signal_keys(c.traffic);
    VirtualWorld world(with_keys(c.switches, keys), c.traffic, pool, keys,
                       {.partition = partition ? &*partition : nullptr});
    if (c.link_series) world.sample_links(c.switches, span_of(c).slice);
    const bool whole = drive(c, world, stop);
    result = world.result();
    result.interrupted = !whole;
    world.flush();
  }
  result.mbufs_leaked = leaked_since(pool, in_use_before);
  return result;
}

}  // namespace outrider::lab
