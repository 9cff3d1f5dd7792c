#pragma once

#include <cstdint>

#include "common/core/traffic_class.h"
#include "common/dpdk/port.h"
#include "common/runtime/poll_loop.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// The network's report with what happened at the devices: a packet that a
/// device did not take was not transmitted but dropped, one that could not be
/// read was received and dropped. Pure.
SwitchReport with_devices(SwitchReport report, const PerClass<std::uint64_t>& tx_dropped,
                          std::uint64_t malformed, const PortLosses& losses,
                          const PollTimes& times);

}  // namespace outrider::sw
