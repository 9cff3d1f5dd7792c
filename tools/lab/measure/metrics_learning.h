#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/job_samples.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Says how the workers of one run wait for each other, and what they learn.
///
/// An update is a worker's whole push. A gap is the time between consecutive updates of a job,
/// whichever workers they come from. Gaps are taken while all workers are past the skipped
/// iterations and none has ended: from the last worker's push of the first measured iteration
/// to the first worker's push of its last iteration.
struct LearningMetrics {
  JobSamples worker_iteration_seconds;  ///< every iteration of every worker
  JobSamples wait_seconds;              ///< of each: own push delivered to end of wait for others
  /// The largest mean wait of a worker minus the smallest; with several jobs the largest
  /// difference of a job.
  double wait_spread_seconds = kNotDefined;
  std::vector<double> update_gap_seconds;
  double update_gap_variation = kNotDefined;  ///< standard deviation / mean
  double staleness_mean = kNotDefined;        ///< [updates of other workers]
  std::uint32_t staleness_max = 0;

  bool learns = false;  ///< a job has a learner, so the figures below are valid
  /// Time from the job's begin, skipped iterations included, to the first loss at or below
  /// the target; of the slowest job, NaN if a job did not reach it.
  double time_to_loss_seconds = kNotDefined;
  double gradients_to_loss = kNotDefined;  ///< workers' gradients in that time, of that job
  double last_loss = kNotDefined;          ///< largest of the jobs
  double least_loss = kNotDefined;         ///< largest of the jobs
  std::uint64_t diverged = 0;              ///< jobs that diverged
  std::uint64_t zeroed_values = 0;         ///< values of gradients that were not delivered
  /// Of all values of gradients, and of the sum of their magnitudes |g|: the share not delivered.
  double zeroed_share = kNotDefined;
  double zeroed_magnitude_share = kNotDefined;
  std::uint64_t kept_values = 0;  ///< values of parameters that were not delivered
};

/// Measures waiting and learning in one run.
/// @param excluded (job, iteration) pairs left out of the samples of iterations and waits
LearningMetrics measure_learning(const Case& definition, const tg::GeneratorReport& traffic,
                                 const std::set<std::pair<std::uint16_t, std::uint32_t>>& excluded);

}  // namespace outrider::lab
