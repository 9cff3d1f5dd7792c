#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Cases of one arm, some repeated: a resample of its seeds.
using Resample = std::span<const CaseSummary* const>;

/// Of a metric in summary.json. Tables show times in ms and rates in Mbit/s, for instance.
enum class Unit : std::uint8_t { kNumber, kShare, kPackets, kBytes, kSeconds, kBitsPerSecond };

/// What becomes of the values of an arm: they are put together over its seeds, then ...
enum class Aggregate : std::uint8_t { kMean, kMedian, kP99, kLeast, kMost, kCount, kSum };

/// Where the values come from. All but FromRun are read from what measure() left.
using ValuesOf = const std::vector<double>& (*)(const CaseSummary&);
using NumberOf = double (*)(const CaseSummary&);

/// One value an iteration, or a burst.
struct Pooled {
  ValuesOf values;
};
/// The aggregate of the one over that of the other.
struct Relative {
  ValuesOf values;
  ValuesOf reference;
};
/// One value a run. NaN: left out, or nothing is defined if every run is needed.
struct PerRun {
  NumberOf value;
  bool every_run = false;
};
/// The sum of the one over the sum of the other, over the runs for which both are defined.
struct RatioOfSums {
  NumberOf above;
  NumberOf below;
};
/// As samples, of what the reports of one run hold: measured by the row itself.
struct FromRun {
  std::vector<double> (*values)(const CaseRun&);
};
using Source = std::variant<Pooled, Relative, PerRun, RatioOfSums, FromRun>;

/// How a table shows a metric; what is empty or zero follows from its unit.
struct Column {
  std::string_view heading{};  ///< empty: the metric's name
  std::string_view unit{};
  double scale = 0;
};

/// Everything about one figure of an arm. summary.json, its schema, the tables, `compare`, the
/// report and docs/measurement.md are made from these rows.
struct Metric {
  std::string_view name;  ///< in `arms` of summary.json
  Unit unit = Unit::kNumber;
  std::string_view help;  ///< one sentence, without a full stop
  Aggregate aggregate = Aggregate::kMean;
  Source source;
  bool change = true;  ///< a ratio to the off arm means something
  /// JSON pointer below `metrics` of a case to the same figure of one run; empty: it is
  /// written there under the metric's name.
  std::string_view place{};
  std::string_view tested{};  ///< its name where `compare` tests it; empty: it does not
  Column column{};
  bool (*there)(const CaseMetrics&) = nullptr;  ///< whether a case has it; nullptr: always
};

/// All rows, in the order of summary.json.
std::span<const Metric> metrics();

/// @throws std::out_of_range if there is none of this name
const Metric& metric_named(std::string_view name);

/// The figure of some cases; NaN if it is not defined.
double value_of(const Metric& metric, Resample cases);

/// Whether one of the cases has it.
bool is_there(const Metric& metric, Resample cases);

/// The values of all FromRun rows.
std::map<std::string_view, std::vector<double>> values_of_run(const CaseRun& run);

/// JSON pointer below `metrics` of a case.
std::string place_in_case(const Metric& metric);

/// What people read instead of a unit of summary.json.
struct Shown {
  std::string_view unit;
  double scale;
};
Shown shown_in(Unit unit) noexcept;

/// Whole: heading, unit and scale.
Column column_of(const Metric& metric);

const char* name_of(Unit unit) noexcept;
/// "median of all values"
std::string_view text_of(const Metric& metric);

}  // namespace outrider::lab
