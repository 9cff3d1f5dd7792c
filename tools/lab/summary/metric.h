#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// A resample of an arm's seeds: cases of the arm, some of them repeated.
using Resample = std::span<const CaseSummary* const>;

/// The unit of a metric in summary.json. Tables may show another, such as ms or Mbit/s.
enum class Unit : std::uint8_t { kNumber, kShare, kPackets, kBytes, kSeconds, kBitsPerSecond };

/// The function that makes one figure of an arm's values, pooled over its seeds.
enum class Aggregate : std::uint8_t { kMean, kMedian, kP99, kLeast, kMost, kCount, kSum };

// The sources of a metric's values. All except FromRun read the results of measure().
using ValuesOf = const std::vector<double>& (*)(const CaseSummary&);
using TimesOf = const JobSamples& (*)(const CaseSummary&);
using NumberOf = double (*)(const CaseSummary&);

/// A source with one value per iteration or burst.
struct Pooled {
  ValuesOf values;
};
/// A source of times of jobs: the aggregate is of each job's values, and of several jobs the mean.
/// The least, the most and the number are of all values.
struct PerJob {
  TimesOf values;
};
/// The aggregate of a job's `values` divided by that of its `reference`, which is the same unless
/// `of_reference` is given; the mean of the jobs.
struct Relative {
  TimesOf values;
  TimesOf reference;
  std::optional<Aggregate> of_reference{};
};
/// A source with so many values that runs keep them in buckets: median, p99 and number of them.
struct Distribution {
  const FilledBuckets& (*values)(const CaseSummary&);
  double unit;  ///< multiplies every value
};
/// A source with one value per run. A NaN is left out, or makes the metric undefined if
/// `every_run` is set.
struct PerRun {
  NumberOf value;
  bool every_run = false;
};
/// The sum of `above` divided by the sum of `below`, over the runs for which both are defined.
struct RatioOfSums {
  NumberOf above;
  NumberOf below;
};
/// A source that makes its figure of all runs at once.
struct OfRuns {
  double (*value)(std::span<const CaseSummary* const>);
};
/// A source whose samples the row itself measures from the reports of one run.
struct FromRun {
  std::vector<double> (*values)(const CaseRun&);
};
using Source =
    std::variant<Pooled, PerJob, Relative, Distribution, PerRun, RatioOfSums, OfRuns, FromRun>;

/// The display of a metric in a table. An empty or zero member follows from the metric's unit.
struct Column {
  std::string_view heading{};  ///< empty: the metric's name
  std::string_view unit{};
  double scale = 0;
};

/// Defines one metric of an arm. summary.json, its schema, the tables, `compare`, the report and
/// docs/measurement.md are made from these rows.
struct Metric {
  std::string_view name;  ///< name in `arms` of summary.json
  Unit unit = Unit::kNumber;
  std::string_view help;  ///< one sentence, without a full stop
  Aggregate aggregate = Aggregate::kMean;
  Source source;
  bool change = true;         ///< the ratio to the baseline is meaningful
  std::string_view tested{};  ///< its name in `compare`; empty: `compare` does not test it
  Column column{};
  bool (*there)(const CaseMetrics&) = nullptr;  ///< whether a case has it; nullptr: always
  bool without_job = false;                     ///< a case without a job has it too
};

/// Returns all rows, in the order of summary.json.
std::span<const Metric> metrics();

/// Returns the metric of this name. @throws std::out_of_range if there is none
const Metric& metric_named(std::string_view name);

/// What a table shows of a metric, or of a figure that benchmarks give
/// (trafficgen/streams/benchmark).
struct ShownFigure {
  std::string_view name;
  Column column;  ///< all filled in
};

/// Returns that of the metric or the figure of this name. @throws std::out_of_range if there is
/// none
ShownFigure shown_figure(std::string_view name);

/// Returns the metric's figure for some cases; NaN if it is not defined.
double value_of(const Metric& metric, Resample cases);

/// Says whether one of the cases has the metric.
bool is_there(const Metric& metric, Resample cases);

/// Returns the values of all FromRun rows, by the metric's name.
std::map<std::string_view, std::vector<double>> values_of_run(const CaseRun& run);

/// The unit in which tables show values, and the factor to it from the unit of summary.json.
struct Shown {
  std::string_view unit;
  double scale;
};
Shown shown_in(Unit unit) noexcept;

/// Returns the column of a metric with heading, unit and scale all filled in.
Column column_of(const Metric& metric);
/// Returns the column of a figure: what `column` leaves out follows from its name and unit.
Column with_defaults(Column column, std::string_view name, Unit unit);

const char* name_of(Unit unit) noexcept;
/// Returns how the metric is aggregated, as text: "median of all values".
std::string_view text_of(const Metric& metric);

}  // namespace outrider::lab
