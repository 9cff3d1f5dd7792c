#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <functional>

#include "tools/lab/experiment/case.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

/// Asked between slices of virtual time; true: end the run now.
using StopCheck = std::function<bool()>;

/// Packet buffers that a case may hold at once.
std::uint32_t buffers_needed(const Case& c);

/// Runs a case in virtual time: the switches and the hosts of one process,
/// joined by links in memory. Deterministic: equal cases give equal results.
///
/// A fixed schedule runs to the end of its last period, however soon the last
/// burst is over, so that all arms have the same time to recover; a closed loop
/// a little beyond its last iteration. Parameter limit_seconds bounds both.
///
/// @param pool of make_packet_pool() with kHeaderRoomBytes or more; the EAL runs
RunResult run_virtual(const Case& c, rte_mempool& pool, const StopCheck& stop = {});

}  // namespace outrider::lab
