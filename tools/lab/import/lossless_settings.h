#pragma once

#include <string>

#include "tools/lab/fabric/fabric.h"

namespace outrider::lab {

/// Returns lines of `[parameters]` for RDMA as HPCC's simulator has it: switches mark from
/// 4 kB for each Gbit/s of a NIC to 16 kB, with a probability that rises to 0.2, and pause.
///
/// Source: alibaba-edu/High-Precision-Congestion-Control, simulation/run.py (KMIN_MAP, KMAX_MAP,
/// PMAX_MAP). Deviations: all ports have the thresholds of the quickest NIC, where the simulator
/// scales them by each port's rate. A pause begins at a fixed 5 kB for each Gbit/s of that NIC,
/// where the simulator takes an eighth of what is free of a shared buffer.
std::string lossless_settings_of(const Fabric& fabric);

}  // namespace outrider::lab
