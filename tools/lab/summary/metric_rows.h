#pragma once

#include <span>

#include "tools/lab/summary/metric.h"

namespace outrider::lab {

// The rows of metrics(), by topic and in this order, which is that of summary.json. A new metric
// is a row in one of these files, and a test.

/// Every run must have it.
template <double LearningMetrics::*kFigure>
constexpr PerRun learning{[](const CaseSummary& c) { return c.metrics.learning.*kFigure; }, true};

std::span<const Metric> rows_of_bursts();
std::span<const Metric> rows_of_background();
std::span<const Metric> rows_of_jobs();

}  // namespace outrider::lab
