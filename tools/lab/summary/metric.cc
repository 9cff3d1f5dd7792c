#include "tools/lab/summary/metric.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "tools/lab/summary/metric_rows.h"
#include "trafficgen/streams/benchmark/benchmark_result.h"

namespace outrider::lab {

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce aggregates

double aggregated(Aggregate how, std::vector<double> values) {
  if (how == Aggregate::kCount) return static_cast<double>(values.size());
  if (values.empty()) return kNotDefined;
  switch (how) {
    case Aggregate::kMedian:
      return median(std::move(values));
    case Aggregate::kP99:
      return quantile(std::move(values), 0.99);
    case Aggregate::kLeast:
      return std::ranges::min(values);
    case Aggregate::kMost:
      return std::ranges::max(values);
    case Aggregate::kSum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    default:
      return mean(values);
  }
}

template <class Values>
std::vector<double> pooled(Resample cases, Values values_of) {
  std::vector<double> all;
  for (const CaseSummary* c : cases) {
    const auto& own = values_of(*c);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::vector<const JobSamples*> times_of(Resample cases, TimesOf values) {
  std::vector<const JobSamples*> all;
  for (const CaseSummary* c : cases) all.push_back(&values(*c));
  return all;
}

/// Says whether each job of a case has a value in one of the runs. Without it the mean of the
/// others would be taken for that of all.
bool has_all_jobs(Resample cases, const std::vector<const JobSamples*>& runs) {
  std::set<std::size_t> seen;
  std::size_t jobs = 0;
  for (const CaseSummary* c : cases) jobs = std::max(jobs, c->metrics.jobs.each.size());
  if (jobs == 0) return true;
  for (const JobSamples* run : runs)
    for (const JobSamples::Row& row : run->rows())
      if (row.job < jobs) seen.insert(row.job);
  return seen.size() == jobs;
}

double per_job(Aggregate how, Resample cases, const PerJob& source) {
  const auto runs = times_of(cases, source.values);
  if (how == Aggregate::kCount || how == Aggregate::kLeast || how == Aggregate::kMost) {
    std::vector<double> all;
    for (const JobSamples* run : runs)
      all.insert(all.end(), run->values().begin(), run->values().end());
    return aggregated(how, std::move(all));
  }
  if (!has_all_jobs(cases, runs)) return kNotDefined;
  return mean_of_jobs(
      runs, [how](std::vector<double> of_job) { return aggregated(how, std::move(of_job)); });
}

double relative(Aggregate how, Resample cases, const Relative& source) {
  const auto runs = times_of(cases, source.values);
  if (!has_all_jobs(cases, runs)) return kNotDefined;
  return mean_of_jobs(runs, times_of(cases, source.reference),
                      [&](std::vector<double> own, std::vector<double> reference) {
                        return aggregated(how, std::move(own)) /
                               aggregated(source.of_reference.value_or(how), std::move(reference));
                      });
}

std::vector<double> numbers(Resample cases, const PerRun& source) {
  std::vector<double> values;
  for (const CaseSummary* c : cases)
    if (const double v = source.value(*c); source.every_run || !std::isnan(v)) values.push_back(v);
  return values;
}

double of_distribution(Aggregate how, Resample cases, const Distribution& source) {
  std::vector<const FilledBuckets*> parts;
  std::uint64_t count = 0;
  for (const CaseSummary* c : cases) {
    parts.push_back(&source.values(*c));
    count += parts.back()->count();
  }
  if (how == Aggregate::kCount) return static_cast<double>(count);
  assert(how == Aggregate::kMedian || how == Aggregate::kP99);
  return quantile_of(parts, how == Aggregate::kMedian ? 0.5 : 0.99) * source.unit;
}

double ratio_of_sums(Resample cases, const RatioOfSums& source) {
  double above = 0, below = 0;
  for (const CaseSummary* c : cases) {
    const double n = source.above(*c), d = source.below(*c);
    if (std::isnan(n) || std::isnan(d)) continue;
    above += n;
    below += d;
  }
  return below > 0 ? above / below : kNotDefined;
}

/// Returns how a table shows a figure of a benchmark: its times are those of packets.
Column column_of_unit(std::string_view unit) {
  if (unit == "s") return {.unit = "us", .scale = 1e6};
  if (unit == "packets/s") return {.unit = "kpps", .scale = 1e-3};
  return {};
}

/// Returns the unit that a benchmark calls so. Packets a second are shown as they are.
Unit unit_named(std::string_view name) {
  for (const Unit unit :
       {Unit::kShare, Unit::kPackets, Unit::kBytes, Unit::kSeconds, Unit::kBitsPerSecond})
    if (name == name_of(unit)) return unit;
  return Unit::kNumber;
}

}  // namespace

std::span<const Metric> metrics() {
  static const std::vector<Metric> kAll = [] {
    std::vector<Metric> all;
    for (const auto rows : {rows_of_bursts(), rows_of_losses(), rows_of_pushes(),
                            rows_of_background(), rows_of_flows(), rows_of_jobs()})
      for (const bool of_flows = rows.data() == rows_of_flows().data(); const Metric& row : rows)
        all.emplace_back(row).without_job |= of_flows;
    return all;
  }();
  return kAll;
}

const Metric& metric_named(std::string_view name) {
  const auto all = metrics();
  const auto it = std::ranges::find(all, name, &Metric::name);
  if (it != all.end()) return *it;
  throw std::out_of_range("there is no metric \"" + std::string(name) +
                          "\"; `outrider-lab metrics` lists them");
}

ShownFigure shown_figure(std::string_view name) {
  if (const tg::BenchmarkFigure* figure = tg::find_benchmark_figure(name))
    return {figure->name,
            with_defaults(column_of_unit(figure->unit), figure->name, unit_named(figure->unit))};
  const Metric& metric = metric_named(name);
  return {metric.name, column_of(metric)};
}

double value_of(const Metric& metric, Resample cases) {
  const auto how = metric.aggregate;
  return std::visit(
      Overloaded{[&](const Pooled& s) { return aggregated(how, pooled(cases, s.values)); },
                 [&](const PerJob& s) { return per_job(how, cases, s); },
                 [&](const Relative& s) { return relative(how, cases, s); },
                 [&](const Distribution& s) { return of_distribution(how, cases, s); },
                 [&](const PerRun& s) { return aggregated(how, numbers(cases, s)); },
                 [&](const RatioOfSums& s) { return ratio_of_sums(cases, s); },
                 [&](const OfRuns& s) { return s.value(cases); },
                 [&](const FromRun&) {
                   return aggregated(how, pooled(cases, [&](const CaseSummary& c) {
                                       const auto own = c.of_rows.find(metric.name);
                                       return own == c.of_rows.end() ? std::vector<double>{}
                                                                     : own->second;
                                     }));
                 }},
      metric.source);
}

bool is_there(const Metric& metric, Resample cases) {
  return std::ranges::any_of(cases, [&metric](const CaseSummary* c) {
    return (metric.without_job || c->metrics.has_job) &&
           (metric.there == nullptr || metric.there(c->metrics));
  });
}

std::map<std::string_view, std::vector<double>> values_of_run(const CaseRun& run) {
  std::map<std::string_view, std::vector<double>> values;
  for (const auto& m : metrics())
    if (const auto* source = std::get_if<FromRun>(&m.source)) values[m.name] = source->values(run);
  return values;
}

Shown shown_in(Unit unit) noexcept {
  static constexpr Shown kShown[]{{"", 1},      {"%", 100},  {"packets", 1},
                                  {"kB", 1e-3}, {"ms", 1e3}, {"Mbit/s", 1e-6}};
  return kShown[static_cast<std::size_t>(unit)];
}

Column column_of(const Metric& metric) {
  return with_defaults(metric.column, metric.name, metric.unit);
}

Column with_defaults(Column column, std::string_view name, Unit unit) {
  const Shown shown = shown_in(unit);
  if (column.heading.empty()) column.heading = name;
  if (column.unit.empty()) column.unit = shown.unit;
  if (column.scale == 0) column.scale = shown.scale;
  return column;
}

const char* name_of(Unit unit) noexcept {
  static constexpr const char* kNames[]{"", "share", "packets", "bytes", "s", "bit/s"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string_view text_of(const Metric& metric) {
  static constexpr std::string_view kOfValues[]{
      "mean of all values",    "median of all values", "p99 of all values", "least of all values",
      "largest of all values", "number of values",     "sum of all values"};
  static constexpr std::string_view kOfRuns[]{
      "mean of the runs",    "median of the runs", "p99 of the runs", "least of the runs",
      "largest of the runs", "number of runs",     "sum of the runs"};
  static constexpr std::string_view kRelative[]{
      "ratio of means",   "ratio of medians", "ratio of p99s", "ratio of least",
      "ratio of largest", "ratio of counts",  "ratio of sums"};
  static constexpr std::string_view kOfJobs[]{
      "mean of each job, their mean", "median of each job, their mean",
      "p99 of each job, their mean",  "least of all values",
      "largest of all values",        "number of values",
      "sum of each job, their mean"};
  const auto how = static_cast<std::size_t>(metric.aggregate);
  if (std::holds_alternative<PerJob>(metric.source)) return kOfJobs[how];
  if (std::holds_alternative<PerRun>(metric.source)) return kOfRuns[how];
  if (const auto* relative = std::get_if<Relative>(&metric.source))
    return relative->of_reference == Aggregate::kMedian ? "p99 over median" : kRelative[how];
  const bool sums = std::holds_alternative<RatioOfSums>(metric.source) ||
                    std::holds_alternative<OfRuns>(metric.source);
  return sums ? "ratio of sums" : kOfValues[how];
}

}  // namespace outrider::lab
