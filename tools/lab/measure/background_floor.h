#pragma once

#include <cstdint>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

/// Whether the background kept a share of the measured link while bursts passed, and how soon it
/// was back. Shares are of the link's time, headers and gaps of full frames included. Of
/// iterations with all workers' pushes delivered, one value each.
struct BackgroundFloor {
  double used_seconds = 0;      ///< by background, from a first packet at the queue to the last
  double possible_seconds = 0;  ///< that time itself
  /// Of the span of ten base RTTs, in whole bins, that has least.
  std::vector<double> least_shares{};
  std::vector<double> below_floor{};  ///< 1 if that is less than the floor of `window`, else 0
  /// From the last delivery to the first span of ten base RTTs with 95 % of the goodput of the
  /// twenty before START [base RTTs], 200 at most.
  std::vector<double> return_rtts{};
  std::vector<double> first_shares{};  ///< of that goodput, in the first ten after the delivery
};

/// Total: what is not recorded is left out.
BackgroundFloor background_floor(const Case& definition, const RunResult& result);

}  // namespace outrider::lab
