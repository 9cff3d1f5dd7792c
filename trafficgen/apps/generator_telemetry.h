#pragma once

#include <string_view>
#include <vector>

#include "common/dpdk/telemetry_commands.h"
#include "trafficgen/apps/run_progress.h"
#include "trafficgen/streams/run/stream_steering.h"

namespace outrider::tg {

// The answers to single commands. Pure.

/// Returns the counts of the process, under the names of the report.
TelemetryValue telemetry_of_generator(const TrafficLive& counts);
/// Returns the names of the streams and what each does now.
TelemetryValue telemetry_of_streams(const std::vector<StreamSteering::Stream>& streams);
/// Returns state, rate and counts of one stream.
/// @throws std::invalid_argument if there is no such stream
TelemetryValue telemetry_of_stream(const std::vector<StreamSteering::Stream>& streams,
                                   std::string_view name);

/// Registers "/outrider/..." at DPDK's telemetry socket, and logs where that is.
/// @param progress,steering must outlive `commands`
void add_commands(TelemetryCommands& commands, const RunProgress& progress,
                  StreamSteering& steering);

}  // namespace outrider::tg
