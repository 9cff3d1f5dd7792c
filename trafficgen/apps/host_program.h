#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/runtime/poll_program.h"
#include "trafficgen/apps/output_files.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Returns the buffers of the receive rings. They are a separate pool, because received packets
/// leave other bytes in their buffers, and senders rely on zeros after their headers.
[[nodiscard]] std::uint32_t ring_mbufs(const GeneratorConfig& config);

/// Runs a file that has hosts, from EAL to report.
/// @param stall  ends a run that stalls for so long, see StallWatch; none: it goes on
/// @return the exit status. @throws UsageError, EnvironmentError
int run_host_program(const GeneratorConfig& config, const ProgramOptions& options,
                     const OutputFiles& files, std::vector<std::string> eal_extra,
                     std::optional<Duration> stall);

}  // namespace outrider::tg
