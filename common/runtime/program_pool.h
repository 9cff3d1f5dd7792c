#pragma once

#include "common/dpdk/eal/eal.h"
#include "common/dpdk/packet/mempool.h"

namespace outrider {

/// Makes a pool as make_packet_pool() does. The kernel takes seconds for each GB of it, and DPDK
/// asks nobody meanwhile, so SIGINT and SIGTERM then end the process at once, with
/// kExitInterrupted: there are no results yet.
/// @throws DpdkError
Mempool make_program_pool(const Eal& eal, const PacketPoolConfig& config);

}  // namespace outrider
