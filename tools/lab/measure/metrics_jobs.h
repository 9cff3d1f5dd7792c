#pragma once

#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

/// One job of a run.
struct JobMetrics {
  std::string name;
  double start_seconds = kNotDefined;       ///< begin of its first iteration, in the run
  double completion_seconds = kNotDefined;  ///< from there to its last end; NaN if it did not end
  double iteration_seconds_median = kNotDefined;    ///< slowest worker
  double worker_spread_seconds_mean = kNotDefined;  ///< see JobsMetrics
};

/// Shares of the run in which payload of the jobs' bursts, with its headers, occupies the NICs
/// of some hosts: the mean over these hosts. Acknowledgments and background are not in it.
struct NicUse {
  double sending = kNotDefined;
  double receiving = kNotDefined;
};

/// What there is to say of several jobs beyond what one has; nothing of a sole one.
struct JobsMetrics {
  std::vector<JobMetrics> each{};
  /// Last less first worker whose parameters are all there: one value an iteration of a job.
  std::vector<double> worker_spread_seconds{};
  NicUse server_hosts;  ///< that have a server of any job
  NicUse other_hosts;   ///< of the jobs' workers alone
};

/// Total: a job that is not in the report has NaN.
JobsMetrics measure_jobs(const Case& definition, const tg::GeneratorReport& report);

}  // namespace outrider::lab
