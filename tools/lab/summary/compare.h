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

/// The values of one run of an arm.
struct SeedValues {
  std::uint64_t seed = 0;
  std::vector<double> values;  ///< [compared_metrics()]; NaN: not defined
};

/// An arm at a point of the matrix.
struct ComparableArm {
  std::string label;
  std::size_t point = 0;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< values as texts
  std::vector<SeedValues> seeds;
  /// The arm's figures as its table has them, all seeds together, [compared_metrics()].
  std::vector<double> values{};
};

/// The part of some results that compare() needs.
struct ComparableResult {
  std::string experiment;
  std::string runtime;
  std::vector<ComparableArm> arms;
  int results_version = 1;  ///< kResultsVersion of the program that made it
};

/// Returns the metrics that compare() tests; each has one value per seed.
std::span<const Metric* const> compared_metrics();

/// One metric of one arm in both results.
struct MetricComparison {
  const Metric* metric = nullptr;
  double a = kNotDefined;  ///< as in the arm's table
  double b = kNotDefined;
  /// B / A - 1 of each seed's own figures, as a geometric mean over seeds, with 95 % confidence
  /// (bootstrap over seeds). If a value is not above zero, B - A as an arithmetic mean.
  Estimate change{};
  bool relative = true;
  double p = 1;         ///< p-value of "no difference"
  double adjusted = 1;  ///< p adjusted for the number of comparisons (Holm)
  bool changed = false;
};

struct ArmComparison {
  std::string label;
  /// Parameters in which the two arms differ: name, value in A, value in B.
  std::vector<std::array<std::string, 3>> differences{};
  std::size_t seeds_a = 0, seeds_b = 0;
  bool paired = false;  ///< both have the same seeds, and equal seeds share their draws
  std::vector<MetricComparison> metrics{};
};

struct Comparison {
  std::vector<ArmComparison> arms;
  std::vector<std::string> only_a, only_b;  ///< arms that the other result does not have
  std::size_t compared = 0;
  std::size_t changed = 0;
  /// There are so few seeds that no p-value can be below the limit.
  bool too_few_seeds = false;
};

/// Tests what changed beyond noise from A to B, for all metrics of all arms that both have.
/// Arms are matched by label, and several arms with one label by order. A metric has changed
/// if its adjusted p-value is below 5 %, so equal results show any change with a chance of at
/// most 5 %. Pure.
Comparison compare(const ComparableResult& a, const ComparableResult& b);

/// Returns the comparison for a terminal.
std::string to_text(const Comparison& comparison);
/// Returns the comparison for programs.
std::string to_json(const Comparison& comparison);

}  // namespace outrider::lab
