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

/// What the command line says goes before the file, as at start-up.
ConfigResult<SwitchProcessConfig> load_configuration(const ProgramOptions& options);

/// Runs a configuration on its devices, from EAL to report, with everything that watches and
/// changes it meanwhile. @param now_since_1970_ns  for the times of captured packets
/// @return the exit status. @throws UsageError, EnvironmentError
int run_switch_program(const SwitchProcessConfig& config, const ProgramOptions& options,
                       const std::vector<CaptureOptions>& captures,
                       std::optional<Duration> duration, std::uint64_t (*now_since_1970_ns)(),
                       std::vector<std::string> eal_extra);

}  // namespace outrider::sw
