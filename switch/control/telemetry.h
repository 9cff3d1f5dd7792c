#pragma once

#include <functional>
#include <string_view>

#include "common/dpdk/telemetry_commands.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/reload.h"

namespace outrider::sw {

// Answers of single commands, from a report as SwitchSnapshots::read() makes it. Pure.

/// Everything of the process but its queues.
TelemetryValue telemetry_of_switch(const SwitchReport& report);
/// Names of the ports, "switch.port".
TelemetryValue telemetry_of_ports(const SwitchReport& report);
/// What waits, leaves, is marked and dropped at each queue of a port.
/// @param port "switch.port", or "port" if only one switch has it
/// @throws std::invalid_argument
TelemetryValue telemetry_of_port(const SwitchReport& report, std::string_view port);
/// Every counter of one queue. @param parameters "PORT,QUEUE"
/// @throws std::invalid_argument
TelemetryValue telemetry_of_queue(const SwitchReport& report, std::string_view parameters);
/// By class and reason, what is not zero.
TelemetryValue telemetry_of_drops(const SwitchReport& report);

/// Registers "/outrider/..." at DPDK's telemetry socket.
/// @param snapshots must outlive `commands`. @param reload  what "/outrider/reload" does
void add_commands(TelemetryCommands& commands, const SwitchSnapshots& snapshots,
                  std::function<ReloadResult()> reload);

}  // namespace outrider::sw
