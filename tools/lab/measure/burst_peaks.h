#pragma once

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// How far above its mean the traffic of bursts is at the measured queue: for windows of 1, 10 and
/// 100 ms the bytes of the fullest window over those of the mean one.
struct BurstPeaks {
  double link_share = kNotDefined;  ///< frame bytes of bursts over what the port could send
  double over_1ms = kNotDefined;
  double over_10ms = kNotDefined;
  double over_100ms = kNotDefined;
};

/// Measures a run from the first measured push's due time to the last one's, which are whole
/// iterations. Windows lie end to end. A figure is not defined where fewer than two windows fit,
/// where the queue's series is coarser than the window or ends before, and without bursts. Pure.
BurstPeaks burst_peaks(const Case& definition, const RunResult& result);

}  // namespace outrider::lab
