#pragma once

#include <string>
#include <vector>

#include "common/runtime/poll_program.h"
#include "trafficgen/apps/output_files.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Runs a file that has streams and no hosts, from EAL to report.
/// @return the exit status. @throws UsageError, EnvironmentError
int run_stream_program(const GeneratorConfig& config, const ProgramOptions& options,
                       const OutputFiles& files, std::vector<std::string> eal_extra);

}  // namespace outrider::tg
