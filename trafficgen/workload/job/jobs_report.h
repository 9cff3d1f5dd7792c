#pragma once

#include <cstdint>
#include <vector>

#include "trafficgen/learner/learner_report.h"
#include "trafficgen/measure/flow_totals.h"
#include "trafficgen/measure/job_report.h"
#include "trafficgen/measure/roce_counters.h"

namespace outrider::tg {

/// Holds what the jobs of a process did. It is the part of a generator's report that Job::fill()
/// adds to.
struct JobsReport {
  StartCounts starts;
  std::uint64_t ack_timeouts = 0;
  /// Fixed schedule: iterations whose gradients were due before the last burst was over.
  std::uint64_t late_iterations = 0;
  /// Connections that were reset because more bytes arrived than their sender had handed over.
  std::uint64_t excess_resets = 0;
  RoceCounters roce;  ///< of all queue pairs of jobs
  std::vector<BurstRecord> bursts;
  std::vector<IterationRecord> iterations;
  std::vector<JobReport> jobs;
  std::vector<LearnerReport> learners;
  std::vector<FlowReport> flows;  ///< the jobs' lanes; the generator adds its long flows
};

}  // namespace outrider::tg
