#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/experiment/search_settings.h"
#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// What a search for the best knows of an arm. Less is better everywhere; NaN: not known.
struct BestArm {
  std::string label;
  std::string family{};            ///< empty: of none, such as the baseline
  Estimate objective{};            ///< the metric that is sought, with its 95 % interval
  double p99 = kNotDefined;        ///< p99 of the communication time over the network without
                                   ///< background
  Estimate lost{};                 ///< bytes that background lost, per byte of bursts
  double short_p99 = kNotDefined;  ///< p99 of the times of short flows [s]
  std::size_t seeds = 0;
};

/// Arms at one point, the baseline first.
using BestArms = std::vector<BestArm>;

/// Says whether an arm costs background little. The baseline costs nothing.
[[nodiscard]] bool is_cheap(const BestArms& arms, std::size_t arm, const BestRule& rule);
/// Says whether an arm spares short flows; all do where there are none. The baseline does.
[[nodiscard]] bool spares(const BestArms& arms, std::size_t arm, const BestRule& rule);

/// The best of a family.
struct FamilyBest {
  std::string family;
  std::size_t quickest = 0;
  std::optional<std::size_t> cheap{};  ///< the quickest that costs little, if one does
};
/// Returns the best of each family, in order of appearance; of equal arms the first.
[[nodiscard]] std::vector<FamilyBest> best_of_families(const BestArms& arms, const BestRule& rule);

/// What is best at a point, the baseline included.
struct BestChoice {
  std::size_t quickest = 0;  ///< at any cost
  std::size_t cheap = 0;     ///< the quickest that costs little
  bool dearer = false;       ///< the quickest is quicker than `cheap` by more than its interval
  std::vector<std::size_t> as_good{};  ///< cost little too, and their interval reaches `cheap`'s
  std::size_t sparing = 0;             ///< the quickest of these that spares short flows
};
[[nodiscard]] BestChoice choose(const BestArms& arms, const BestRule& rule);

/// Returns the arms that are worth verifying, rising: of each family the quickest and the quickest
/// that costs little, and of all the quickest of these that spares short flows.
[[nodiscard]] std::vector<std::size_t> worth_verifying(const BestArms& arms, const BestRule& rule);

/// Returns the arms that further seeds may show to be worth verifying: no other of their family
/// beats them in time, cost and short flows beyond both intervals.
[[nodiscard]] std::vector<std::size_t> may_win(const BestArms& arms);

/// Says whether an interval is at most `share` of its value wide to either side. An interval that
/// is not known is not narrow; a value that is infinite will not become narrow, and is.
[[nodiscard]] bool is_narrow(const Estimate& estimate, double share);

}  // namespace outrider::lab
