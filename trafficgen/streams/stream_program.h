#pragma once

#include <string>
#include <vector>

#include "common/runtime/poll_program.h"
#include "trafficgen/config.h"

namespace outrider {

/// Files of figures that are written beside the report; empty: none.
struct StreamFiles {
  std::string csv;      ///< one line a stream
  std::string samples;  ///< raw latencies of streams with latency_samples
};

/// Runs a file that has streams and no hosts, from EAL to report.
/// @return the exit status. @throws UsageError, EnvironmentError
int run_stream_program(const GeneratorConfig& config, const ProgramOptions& options,
                       const StreamFiles& files, std::vector<std::string> eal_extra);

}  // namespace outrider
