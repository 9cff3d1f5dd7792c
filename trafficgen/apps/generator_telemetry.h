#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "common/dpdk/eal/telemetry_commands.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/streams/run/stream_steering.h"

namespace outrider::tg {

// The answers to single commands. Pure.

/// Returns the counts of the process, under the names of the report.
TelemetryValue telemetry_of_generator(const GeneratorLive& live);
/// Returns the names of the streams and what each does now.
TelemetryValue telemetry_of_streams(const std::vector<StreamSteering::Stream>& streams);
/// Returns state, rate and counts of one stream.
/// @throws std::invalid_argument if there is no such stream
TelemetryValue telemetry_of_stream(const std::vector<StreamSteering::Stream>& streams,
                                   std::string_view name);

/// Registers "/outrider/..." at DPDK's telemetry socket, and logs where that is.
/// @param read  called by the socket's thread. @param steering must outlive `commands`
void add_commands(TelemetryCommands& commands, std::function<GeneratorLive()> read,
                  StreamSteering& steering);

}  // namespace outrider::tg
