#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/measure/statistics.h"
#include "tools/lab/summary/metric.h"

namespace outrider::lab {

/// One run of an arm, as a summary.json has it.
struct SeedValues {
  std::uint64_t seed = 0;
  std::vector<double> values;  ///< [compared_metrics()]; NaN: not defined
};

/// An arm at a point of the matrix.
struct ComparableArm {
  std::string label;
  std::size_t point = 0;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< values as JSON
  std::vector<SeedValues> seeds;
};

/// What compare needs of a summary.json.
struct ComparableResult {
  std::string experiment;
  std::string runtime;
  std::vector<ComparableArm> arms;
};

/// The metrics that compare tests, one value a seed.
std::span<const Metric* const> compared_metrics();

/// @param text of a summary.json. @throws std::runtime_error saying what is wrong with it
ComparableResult comparable_from_json(const std::string& text);

/// One metric of one arm in both results.
struct MetricComparison {
  const Metric* metric = nullptr;
  double a = kNotDefined;  ///< mean over its seeds
  double b = kNotDefined;
  /// B / A - 1 as a geometric mean over seeds, with 95 % confidence (bootstrap over seeds);
  /// where a value is not above zero, B - A as an arithmetic one.
  Estimate change{};
  bool relative = true;
  double p = 1;         ///< of no difference
  double adjusted = 1;  ///< for all comparisons made (Holm)
  bool changed = false;
};

struct ArmComparison {
  std::string label;
  /// Parameters of the two that differ: name, value in A, value in B.
  std::vector<std::array<std::string, 3>> differences{};
  std::size_t seeds_a = 0, seeds_b = 0;
  bool paired = false;  ///< both have the same seeds, which share their draws
  std::vector<MetricComparison> metrics{};
};

struct Comparison {
  std::vector<ArmComparison> arms;
  std::vector<std::string> only_a, only_b;  ///< arms that the other result does not have
  std::size_t compared = 0;
  std::size_t changed = 0;
  /// Fewer seeds than it takes to find anything: no p-value can come below the limit.
  bool too_few_seeds = false;
};

/// What changed beyond noise from A to B: all metrics of all arms that both have, by label
/// and, of several with one label, by order. A change is one whose adjusted p-value is
/// below 5 %: the chance that equal results show any is at most that. Pure.
Comparison compare(const ComparableResult& a, const ComparableResult& b);

/// For a terminal.
std::string to_text(const Comparison& comparison);
/// The same for programs.
std::string to_json(const Comparison& comparison);

}  // namespace outrider::lab
