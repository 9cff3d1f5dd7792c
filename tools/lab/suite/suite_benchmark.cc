#include "tools/lab/suite/suite_benchmark.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "switch/config/config_toml.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/suite/suite_repeats.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

/// The label of the one arm that a benchmark has.
constexpr const char* kUnderTest = "device under test";

/// Adds the faults of a file, with its name before each key.
void add_faults(ConfigIssues& all, const std::string& file, const ConfigIssues& faults) {
  for (const ConfigIssue& fault : faults) all.push_back({file + ": " + fault.key, fault.problem});
}

/// Returns the mean of a figure's values, with an interval if there are enough of them.
Estimate estimate_of(const std::vector<double>& values) {
  return bootstrap(values.size(), [&](std::span<const std::size_t> chosen) {
    std::vector<double> some;
    for (const std::size_t i : chosen) some.push_back(values[i]);
    return tg::mean_of(some);
  });
}

/// A value of a point is whole where it can be: 64 bytes and not 64.0.
ParameterValue parameter_value(double value) {
  if (value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

ArmSummary arm_of(const tg::BenchmarkPoint& point, std::size_t number) {
  ArmSummary arm{.label = kUnderTest, .parameters = {}, .point = number};
  for (const auto& [name, value] : point.at)
    arm.parameters.emplace_back(
        name, name.ends_with("_share") ? ParameterValue(value) : parameter_value(value));
  for (const auto& [name, values] : point.figures) {
    while (arm.cases.size() < values.size()) arm.cases.push_back(arm.cases.size());
    arm.metrics.push_back({.name = name, .value = estimate_of(values)});
  }
  return arm;
}

}  // namespace

ConfigResult<BenchmarkOrder> load_benchmark(const SuiteTest& test,
                                            const std::filesystem::path& directory) {
  ConfigResult<BenchmarkOrder> read;
  const std::string streams = (directory / test.streams).string();
  const std::string under_test = (directory / test.under_test).string();
  auto traffic = tg::load_generator_config(streams);
  auto switches = sw::load_switch_config(under_test);
  add_faults(read.issues, streams, traffic.issues);
  add_faults(read.issues, under_test, switches.issues);
  if (!traffic || !switches) return read;
  BenchmarkOrder order{std::move(*switches.config), std::move(*traffic.config)};
  add_faults(read.issues, streams, mismatches(order));
  if (read.issues.empty()) read.config = std::move(order);
  return read;
}

Results results_of(const tg::BenchmarkResult& benchmark, const std::string& name, Runtime runtime) {
  Results results{.experiment = name,
                  .runtime = runtime,
                  .interrupted = !benchmark.finished,
                  .planned_cases = benchmark.points.size(),
                  .finished_cases = benchmark.points.size()};
  for (const tg::BenchmarkPoint& point : benchmark.points)
    results.arms.push_back(arm_of(point, results.arms.size()));
  name_arms(results.arms);
  return results;
}

std::optional<double> variation_of(const tg::BenchmarkResult& benchmark,
                                   const std::string& figure) {
  std::optional<double> largest;
  for (const tg::BenchmarkPoint& point : benchmark.points) {
    const auto values = point.values(figure);
    if (values.size() < 2) continue;
    if (const auto one = coefficient_of_variation({values.begin(), values.end()}))
      largest = std::max(largest.value_or(0), *one);
  }
  return largest;
}

}  // namespace outrider::lab
