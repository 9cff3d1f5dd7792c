#pragma once

#include "common/core/config_issue.h"
#include "trafficgen/config/config.h"
#include "trafficgen/streams/benchmark/benchmark_result.h"
#include "trafficgen/streams/search/rate_search_loop.h"
#include "trafficgen/streams/search/trials.h"

namespace outrider::tg {

/// Returns why the streams of a file cannot be measured, by its keys; empty: they can.
ConfigIssues benchmark_faults(const GeneratorConfig& config);

/// Measures what config.benchmark asks. It reads no clock and opens no device: trials do.
/// @pre benchmark_faults(config) is empty
BenchmarkResult run_benchmark(const GeneratorConfig& config, Trials& trials,
                              const TrialProgress& say);

}  // namespace outrider::tg
