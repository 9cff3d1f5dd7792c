#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_result.h"
#include "common/core/clock.h"
#include "common/runtime/poll_program.h"
#include "switch/config/config.h"
#include "switch/control/capture_file.h"

namespace outrider::sw {

/// Loads the configuration file. Settings of the command line win over those of the file; a
/// reload does the same.
/// @param now_since_1970_ns  from when on signed signals are believed, see load_signal_keys()
ConfigResult<SwitchProcessConfig> load_configuration(const ProgramOptions& options,
                                                     std::uint64_t now_since_1970_ns);

/// Runs a configuration on its devices, from the start of EAL to the report, with telemetry,
/// live view, captures and reload. @param now_since_1970_ns  gives times of captured packets,
/// and from when on keys that a reload reads are believed
/// @return the exit status. @throws UsageError, EnvironmentError
int run_switch_program(const SwitchProcessConfig& config, const ProgramOptions& options,
                       const std::vector<CaptureOptions>& captures,
                       std::optional<Duration> duration, std::uint64_t (*now_since_1970_ns)(),
                       std::vector<std::string> eal_extra);

}  // namespace outrider::sw
