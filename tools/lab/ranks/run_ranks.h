#pragma once

#include <rte_mempool.h>

#include <span>

#include "common/dpdk/packet/mempool.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/ranks/peers.h"
#include "tools/lab/ranks/rank_result.h"
#include "tools/lab/simulation/partition.h"
#include "tools/lab/simulation/run_result.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::lab {

/// Runs one rank's part of a case, while the peers run theirs. @return the part's report;
/// join_parts() makes one of all, which equals run_virtual()'s
/// @param stop  is asked by every rank; one that says yes stops all
/// @throws PeerGone, std::runtime_error
RankResult run_rank(const Case& c, const Partition& partition, Peers& peers, rte_mempool& pool,
                    const StopCheck& stop = {});

/// Does the same with all ranks in this process, one after another in each window.
/// @param pools  [ranks], each from make_packet_pool() with kHeaderRoomBytes or more
/// @throws std::runtime_error
RunResult run_in_turns(const Case& c, const Partition& partition, std::span<const Mempool> pools,
                       const StopCheck& stop = {});

}  // namespace outrider::lab
