#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/measure/statistics.h"
#include "tools/lab/search/pareto_front.h"

namespace outrider::lab {

/// The quantile of a candidate's communication times that counts, over the median of the network
/// without background, so that both objectives have one denominator.
enum class FrontObjective : std::uint8_t { kMedian, kP99 };

/// The name of an objective in results, and its quantile.
struct FrontObjectiveRow {
  FrontObjective objective;
  std::string_view name;
  double quantile;
};
inline constexpr std::array<FrontObjectiveRow, 2> kFrontObjectives{
    {{FrontObjective::kMedian, "median", 0.5}, {FrontObjective::kP99, "p99", 0.99}}};

/// The measurements of one seed of a candidate, or of the network without background.
struct FrontSample {
  std::vector<double> communication_seconds;  ///< of each complete iteration
  std::uint64_t incomplete = 0;               ///< iterations that did not end: infinitely long
  double lost_bytes = kNotDefined;            ///< bytes that background lost against off
  double reference_bytes = kNotDefined;       ///< bytes that background delivered in off
};

/// Consecutive seeds of a candidate: some are for the search, others for its result.
struct SeedRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// One setting of one family.
struct FrontCandidate {
  std::string family;
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
FrontPoint point_of(FrontObjective objective, const FrontCandidate& candidate,
                    std::span<const FrontSample> alone, std::span<const std::size_t> choice);

/// Estimates the point of a candidate from some of its seeds. @pre both have these seeds
FrontEstimate estimate_of(FrontObjective objective, const FrontCandidate& candidate,
                          std::span<const FrontSample> alone, SeedRange seeds);

/// Says whether `by` is better than `other` in time and cost beyond the uncertainty of both: its
/// upper bounds are not above the other's lower bounds, and one of them is below. Always false
/// without intervals.
[[nodiscard]] bool clearly_dominates(const FrontEstimate& by, const FrontEstimate& other) noexcept;

/// Returns the candidates that may be on the front of their family, by rising index. No other
/// candidate of the family clearly dominates them. Candidates without an estimate are left out.
[[nodiscard]] std::vector<std::size_t> survivors(std::span<const FrontCandidate> candidates,
                                                 std::span<const FrontEstimate> estimates);

/// The front of a family.
struct FamilyFront {
  std::string name;
  bool ours = false;
  std::size_t settings = 0;        ///< candidates that the family had
  std::vector<std::size_t> front;  ///< indices of candidates, by rising time
  Estimate area{};                 ///< dominated_area() up to the reference
  /// If `ours`: this area minus that of the best baseline, which is chosen again in each resample.
  Estimate gain{};
};

/// Picks the front of each family, in order of appearance, from the first seeds.
/// @param seeds  that a candidate must have to be picked, > 0
std::vector<FamilyFront> pick_fronts(FrontObjective objective,
                                     std::span<const FrontCandidate> candidates,
                                     std::span<const FrontSample> alone, std::size_t seeds);

/// Estimates areas and gains of the picked fronts. The seeds of all families are resampled
/// together. What was picked for its luck in the search does not look better here if the seeds are
/// others.
/// @pre each picked candidate, and alone, has these seeds
void estimate_areas(FrontObjective objective, std::span<const FrontCandidate> candidates,
                    std::span<const FrontSample> alone, SeedRange seeds,
                    const FrontPoint& reference, std::vector<FamilyFront>& fronts);

}  // namespace outrider::lab
