#pragma once

#include <cstdint>

#include "common/core/traffic_class.h"
#include "common/runtime/device_losses.h"
#include "common/runtime/poll_loop.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// Returns the network's report corrected by what happened at the devices. A packet that a
/// device did not take, or took and failed to send, counts as dropped, not as transmitted. The
/// class of the latter is not known; they count as background. A packet that could not be read
/// counts as received and dropped. Pure.
SwitchReport with_devices(SwitchReport report, const PerClass<std::uint64_t>& tx_dropped,
                          std::uint64_t malformed, const DeviceLosses& losses,
                          const PollTimes& times);

}  // namespace outrider::sw
