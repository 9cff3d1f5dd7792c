#pragma once

#include <cstdint>

#include "common/dpdk/eal/eal.h"
#include "common/dpdk/packet/mempool.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/run/run_pool.h"

namespace outrider::lab {

/// The EAL and the pool of a process that runs cases. The pool is destroyed first.
struct VirtualWorker {
  /// @throws EnvironmentError
  VirtualWorker(std::uint32_t cpu, std::uint32_t buffers, bool attribution);

  Eal eal;
  Mempool pool;
};

/// The packets that the greediest of the wanted cases needs, and whether any is attributed.
struct PoolNeed {
  std::uint32_t buffers = 0;
  bool attribution = false;
};
[[nodiscard]] PoolNeed need_of(const RunOrder& order);

/// Says whether the case without background would be the same run again.
[[nodiscard]] bool is_its_own_reference(const Case& c, Case alone);

/// Returns how many jobs of a case are also run without the others: all, or none if it has one, or
/// more than eight.
[[nodiscard]] std::size_t jobs_to_run_alone(const Case& c);

/// Names the failures of a pool by their cases.
[[nodiscard]] RunOutcome outcome_of(const PoolResult& pool, const RunOrder& order);

}  // namespace outrider::lab
