#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <functional>

#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/partition.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Is called between slices of virtual time. @return true to end the run now
using StopCheck = std::function<bool()>;

/// Returns the number of packet buffers that a case, or a rank's part of it, may hold at once.
std::uint32_t buffers_needed(const Case& c, const RankPart& part = {});

/// Runs a case in virtual time: switches and hosts are in one process, joined by links
/// in memory. Deterministic: equal cases give equal results.
///
/// A fixed schedule runs to the end of its last period, however early the last burst
/// ends, so that all arms have the same time to recover. A closed loop runs a little
/// beyond its last iteration. The parameter limit_seconds bounds both.
///
/// @param pool from make_packet_pool() with kHeaderRoomBytes or more
/// @param tiles  of the network, see Partition: they change how long the run takes, and nothing
///               else. 0: see make_partition()
/// @pre the EAL runs
RunResult run_virtual(const Case& c, rte_mempool& pool, const StopCheck& stop = {},
                      std::uint32_t tiles = 0);

}  // namespace outrider::lab
