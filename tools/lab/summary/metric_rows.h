#pragma once

#include <span>

#include "tools/lab/summary/metric.h"

namespace outrider::lab {

// The rows of metrics() by topic, in the order of summary.json. To add a metric, add a row to one
// of these files, and a test.

/// A figure of LearningMetrics as a source. It is defined only if every run has the figure.
template <double LearningMetrics::*kFigure>
constexpr PerRun learning{[](const CaseSummary& c) { return c.metrics.learning.*kFigure; }, true};

std::span<const Metric> rows_of_bursts();
std::span<const Metric> rows_of_background();
std::span<const Metric> rows_of_flows();
std::span<const Metric> rows_of_jobs();

}  // namespace outrider::lab
