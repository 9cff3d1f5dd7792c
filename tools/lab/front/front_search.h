#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/front/pareto_front.h"
#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// What one seed of a candidate, or of the network without background, has measured.
struct FrontSample {
  std::vector<double> communication_seconds;  ///< of each complete iteration
  double lost_bytes = kNotDefined;            ///< of background, against off
  double reference_bytes = kNotDefined;       ///< what background delivered in off
};

/// One setting of one system.
struct FrontCandidate {
  std::string system;
  std::string label;
  bool ours = false;                   ///< else a baseline
  std::vector<FrontSample> samples{};  ///< of the first seeds, all of them or fewer
};

/// A candidate's point with its 95 % confidence, by bootstrap over seeds.
struct FrontEstimate {
  Estimate time{};
  Estimate cost{};
};

/// @param alone    [seeds] of the network without background
/// @param choice   of the seeds, some of them repeated
FrontPoint point_of(const FrontCandidate& candidate, std::span<const FrontSample> alone,
                    std::span<const std::size_t> choice);

/// @pre alone has at least as many seeds as the candidate
FrontEstimate estimate_of(const FrontCandidate& candidate, std::span<const FrontSample> alone);

/// `by` is better in both respects by more than the two are uncertain: its upper bounds are no
/// higher than the other's lower ones, and one is below. Without intervals: never.
[[nodiscard]] bool clearly_dominates(const FrontEstimate& by, const FrontEstimate& other) noexcept;

/// The candidates that may be on the front of their system: no other of it clearly dominates
/// them. Rising. Candidates that are not known go.
[[nodiscard]] std::vector<std::size_t> survivors(std::span<const FrontCandidate> candidates,
                                                 std::span<const FrontEstimate> estimates);

/// How many seeds each round of the search has in all: `screening`, then twice as many each
/// time, and `seeds` at last. @pre 1 <= screening <= seeds
[[nodiscard]] std::vector<std::uint32_t> rounds_of(std::uint32_t screening, std::uint32_t seeds);

/// The front of a system among those of its candidates that have all seeds.
struct SystemFront {
  std::string name;
  bool ours = false;
  std::vector<std::size_t> front;  ///< candidates, by rising time
  Estimate area{};                 ///< up to the reference
  /// `ours`: this area less that of the best baseline, which each resample chooses anew.
  Estimate gain{};
};

/// Systems in the order in which they appear. The seeds of all are resampled together.
/// @param seeds  that a candidate must have to count, > 0
std::vector<SystemFront> fronts_of(std::span<const FrontCandidate> candidates,
                                   std::span<const FrontSample> alone, std::size_t seeds,
                                   const FrontPoint& reference);

}  // namespace outrider::lab
