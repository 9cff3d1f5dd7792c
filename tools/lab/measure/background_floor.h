#pragma once

#include <cstdint>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Says whether the background kept a share of the measured link while bursts passed, and how
/// soon it was back. Shares are of the link's time and include headers and gaps of full frames.
/// Vectors have one value per iteration in which all workers' pushes were delivered.
struct BackgroundFloor {
  double used_seconds = 0;      ///< link time of background between a burst's first and last packet
  double possible_seconds = 0;  ///< all link time in these spans
  /// Background's share in the span of ten base RTTs, in whole bins, where it is least.
  std::vector<double> least_shares{};
  std::vector<double> below_floor{};  ///< 1 if this is below the floor of `window`, else 0
  /// Time from the last delivery to the first span of ten base RTTs that has 95 % of the goodput
  /// of the twenty base RTTs before START [base RTTs], at most 200.
  std::vector<double> return_rtts{};
  std::vector<double> first_shares{};  ///< share of this goodput in ten RTTs after the delivery
};

/// Measures a run. Iterations without the necessary records are left out; never fails.
BackgroundFloor background_floor(const Case& definition, const RunResult& result);

}  // namespace outrider::lab
