#pragma once

#include <vector>

#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// What the links that fail during a run do to the iterations of its jobs. A job's steady
/// iterations are those measured that ended before the first failure. Each list has a value for
/// each job that has some, and is empty without a failure.
struct FailureImpact {
  /// The longest iteration that ended after the failure over the median of the steady ones.
  std::vector<double> over_steady_median;
  /// The same over their p99: up to 1, the failure had no impact (BMWG draft on AI training
  /// fabrics).
  std::vector<double> over_steady_p99;
  /// From the failure until the first iteration after the longest that takes at most 1.05 times the
  /// steady median [s]; 0: the longest does. A job without such an iteration has no value.
  std::vector<double> recovery_seconds;
};

/// Pure.
FailureImpact failure_impact(const CaseRun& run);

}  // namespace outrider::lab
