#pragma once

#include <functional>
#include <string_view>

#include "common/dpdk/eal/telemetry_commands.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/reload.h"

namespace outrider::sw {

// The answers to single commands, made from the report of SwitchSnapshots::read(). Pure.

/// Returns all counters of the process except those of its queues.
TelemetryValue telemetry_of_switch(const SwitchReport& report);
/// Returns the names of the ports, "switch.port".
TelemetryValue telemetry_of_ports(const SwitchReport& report);
/// Returns how much waits, leaves, is marked and is dropped at each queue of a port.
/// @param port  "switch.port", or "port" if only one switch has a port of that name
/// @throws std::invalid_argument if there is no such port
TelemetryValue telemetry_of_port(const SwitchReport& report, std::string_view port);
/// Returns every counter of one queue. @param parameters "PORT,QUEUE"
/// @throws std::invalid_argument if there is no such port or queue
TelemetryValue telemetry_of_queue(const SwitchReport& report, std::string_view parameters);
/// Returns the drops that are not zero, by class and reason.
TelemetryValue telemetry_of_drops(const SwitchReport& report);

/// Registers "/outrider/..." at DPDK's telemetry socket.
/// @param snapshots must outlive `commands`. @param reload  called by "/outrider/reload"
void add_commands(TelemetryCommands& commands, const SwitchSnapshots& snapshots,
                  std::function<ReloadResult()> reload);

}  // namespace outrider::sw
