#pragma once

#include <optional>

#include "common/core/clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_loop.h"
#include "switch/network.h"

namespace outrider {

/// Joins every edge port to the device of its name.
/// @param network,devices of the same configuration; devices in its order
void connect_devices(SwitchNetwork& network, const SwitchProcessConfig& config,
                     PollDevices& devices);

/// Forwards in real time until a stop signal or the end of `duration`, as the
/// configuration allows: batch by batch (DirectSwitch), or with the emulated links and
/// delays of a SwitchNetwork. What is resident at the end is released.
/// @param config valid; @param devices in its order
/// @param live  told ten times a second what has happened; nullptr: nobody
SwitchReport run_switch(const SwitchProcessConfig& config, PollDevices& devices,
                        std::optional<Duration> duration, SwitchLiveReport* live = nullptr);

/// The network's report with what happened at the devices: a packet that a
/// device did not take was not transmitted but dropped, one that could not be
/// read was received and dropped. Pure.
SwitchReport with_devices(SwitchReport report, const PerClass<std::uint64_t>& tx_dropped,
                          std::uint64_t malformed, const PortLosses& losses, Duration longest_gap);

}  // namespace outrider
