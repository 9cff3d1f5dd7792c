#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

/// How workers of one run wait for each other, and what they learn.
///
/// An update is a worker's whole push. Gaps are between updates of a job, one after the
/// other whosever they are, in the time in which all workers are past the iterations that
/// are skipped and none has ended: from the last to push the first measured iteration to
/// the first to push its last.
struct LearningMetrics {
  std::vector<double> worker_iteration_seconds;  ///< every iteration of every worker
  std::vector<double> wait_seconds;  ///< of each: own push delivered to nobody waited for
  /// Over workers, the mean wait of the one that waits most less that of the one that
  /// waits least; of several jobs the largest.
  double wait_spread_seconds = kNotDefined;
  std::vector<double> update_gap_seconds;
  double update_gap_variation = kNotDefined;  ///< standard deviation to mean
  double staleness_mean = kNotDefined;        ///< others' updates
  std::uint32_t staleness_max = 0;

  bool learns = false;  ///< a job has a learner, and the figures below
  /// From the job's begin, first iterations included, to the first loss at or below the
  /// target; the slowest job, NaN if one never came there.
  double time_to_loss_seconds = kNotDefined;
  double gradients_to_loss = kNotDefined;  ///< of workers, of that job
  double last_loss = kNotDefined;          ///< the largest of the jobs
  double least_loss = kNotDefined;         ///< alike
  std::uint64_t diverged = 0;              ///< jobs
  std::uint64_t zeroed_values = 0;         ///< not delivered, of gradients
  std::uint64_t kept_values = 0;           ///< not delivered, of parameters
};

/// @param excluded (job, iteration): not in the samples of iterations and waits
LearningMetrics measure_learning(const Case& definition, const tg::GeneratorReport& traffic,
                                 const std::set<std::pair<std::uint16_t, std::uint32_t>>& excluded);

}  // namespace outrider::lab
