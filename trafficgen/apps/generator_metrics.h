#pragma once

#include <vector>

#include "common/prometheus/endpoint.h"
#include "common/telemetry/figures.h"
#include "trafficgen/apps/run_parts.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/streams/run/stream_steering.h"

namespace outrider::tg {

/// Returns the figures of the process, which telemetry and Prometheus show.
std::vector<FigureValue> figures_of(const GeneratorLive& live);

/// Returns what Prometheus is shown of a generator: the process, its devices and streams, and the
/// parts that are shown one by one. docs/running.md lists the names. Pure.
std::vector<MetricRecord> metrics_of(const GeneratorLive& live,
                                     const std::vector<StreamSteering::Stream>& streams,
                                     const RunParts& parts);

}  // namespace outrider::tg
