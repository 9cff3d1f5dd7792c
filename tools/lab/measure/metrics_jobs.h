#pragma once

#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// One job of a run.
struct JobMetrics {
  std::string name;
  double start_seconds = kNotDefined;             ///< begin of its first iteration, in the run
  double completion_seconds = kNotDefined;        ///< from there to its end; NaN if it did not end
  double iteration_seconds_median = kNotDefined;  ///< slowest worker
  double iteration_seconds_p99 = kNotDefined;
  /// Earliest gradients ready to latest delivery of pushes, see Samples::communication_seconds.
  double communication_seconds_median = kNotDefined;
  double communication_seconds_p99 = kNotDefined;
  double worker_spread_seconds_mean = kNotDefined;  ///< see JobsMetrics
  /// The link in which packets of its bursts waited longest; empty: not in a fabric, or no port has
  /// records of them.
  std::string worst_link{};
  double worker_start_queue_packets_mean = kNotDefined;  ///< there, see TierMetrics
  double worker_start_queue_total_packets_mean = kNotDefined;
};

/// Shares of the run in which payload of the jobs' bursts, with its headers, occupies the NICs
/// of some hosts, as the mean over these hosts. Acknowledgments and background do not count.
struct NicUse {
  double sending = kNotDefined;
  double receiving = kNotDefined;
};

/// Metrics that only runs with several jobs have; empty for a single job.
struct JobsMetrics {
  std::vector<JobMetrics> each{};
  /// Time between the first and the last worker that has all its parameters; one value per
  /// iteration of a job.
  std::vector<double> worker_spread_seconds{};
  NicUse server_hosts;  ///< hosts that have a server of any job
  NicUse other_hosts;   ///< hosts that have only workers
};

/// Measures the jobs of a run. Never fails: a job that is not in the report has NaN.
JobsMetrics measure_jobs(const Case& definition, const tg::GeneratorReport& report);

/// Adds what links say of the jobs.
void add_worst_links(const LinkResults& links, JobsMetrics& jobs);

}  // namespace outrider::lab
