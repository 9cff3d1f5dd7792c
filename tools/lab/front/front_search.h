#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/front/pareto_front.h"
#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// The measurements of one seed of a candidate, or of the network without background.
struct FrontSample {
  std::vector<double> communication_seconds;  ///< of each complete iteration
  double lost_bytes = kNotDefined;            ///< bytes that background lost against off
  double reference_bytes = kNotDefined;       ///< bytes that background delivered in off
};

/// One setting of one system.
struct FrontCandidate {
  std::string system;
  std::string label;
  bool ours = false;                   ///< false: a baseline
  std::vector<FrontSample> samples{};  ///< one for each seed that has run, from the first on
};

/// A candidate's point with 95 % confidence intervals, by bootstrap over seeds.
struct FrontEstimate {
  Estimate time{};
  Estimate cost{};
};

/// Returns the point of a candidate for some of its seeds.
/// @param alone    [seeds], the network without background
/// @param choice   indices of seeds, some of them repeated
FrontPoint point_of(const FrontCandidate& candidate, std::span<const FrontSample> alone,
                    std::span<const std::size_t> choice);

/// Estimates the point of a candidate. @pre alone has at least as many seeds as the candidate
FrontEstimate estimate_of(const FrontCandidate& candidate, std::span<const FrontSample> alone);

/// Says whether `by` is better than `other` in time and cost beyond the uncertainty of both: its
/// upper bounds are not above the other's lower bounds, and one of them is below. Always false
/// without intervals.
[[nodiscard]] bool clearly_dominates(const FrontEstimate& by, const FrontEstimate& other) noexcept;

/// Returns the candidates that may be on the front of their system, by rising index. No other
/// candidate of the system clearly dominates them. Candidates without an estimate are left out.
[[nodiscard]] std::vector<std::size_t> survivors(std::span<const FrontCandidate> candidates,
                                                 std::span<const FrontEstimate> estimates);

/// Returns the total number of seeds in each round of the search: `screening`, then twice as many
/// in each round, and finally `seeds`. @pre 1 <= screening <= seeds
[[nodiscard]] std::vector<std::uint32_t> rounds_of(std::uint32_t screening, std::uint32_t seeds);

/// The front of a system, made of its candidates with all seeds.
struct SystemFront {
  std::string name;
  bool ours = false;
  std::vector<std::size_t> front;  ///< indices of candidates, by rising time
  Estimate area{};                 ///< dominated_area() up to the reference
  /// If `ours`: this area minus that of the best baseline, which is chosen again in each resample.
  Estimate gain{};
};

/// Returns the fronts of all systems in order of appearance. The seeds of all systems are
/// resampled together.
/// @param seeds  number of seeds that a candidate must have to count, > 0
std::vector<SystemFront> fronts_of(std::span<const FrontCandidate> candidates,
                                   std::span<const FrontSample> alone, std::size_t seeds,
                                   const FrontPoint& reference);

}  // namespace outrider::lab
