#pragma once

#include <span>
#include <vector>

#include "tools/lab/summary/metric.h"

namespace outrider::lab {

// The rows of metrics() by topic, in the order of summary.json. To add a metric, add a row to one
// of these files, and a test.

/// Samples as a source, of all runs together.
template <std::vector<double> Samples::*kValues>
constexpr Pooled all_samples{
    [](const CaseSummary& c) -> const std::vector<double>& { return c.metrics.samples.*kValues; }};

/// Samples as a source, by job.
template <JobSamples Samples::*kValues>
constexpr PerJob samples_by_job{
    [](const CaseSummary& c) -> const JobSamples& { return c.metrics.samples.*kValues; }};

/// A figure of LearningMetrics as a source. It is defined only if every run has the figure.
template <double LearningMetrics::*kFigure>
constexpr PerRun learning{[](const CaseSummary& c) { return c.metrics.learning.*kFigure; }, true};

std::span<const Metric> rows_of_bursts();
std::span<const Metric> rows_of_losses();
std::span<const Metric> rows_of_pushes();
std::span<const Metric> rows_of_background();
std::span<const Metric> rows_of_flows();
std::span<const Metric> rows_of_jobs();

}  // namespace outrider::lab
