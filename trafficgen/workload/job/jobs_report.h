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
  RoceCounters roce;  ///< of all queue pairs of jobs
  std::vector<BurstRecord> bursts;
  std::vector<IterationRecord> iterations;
  std::vector<StepRecord> steps;  ///< of jobs that have a list of them
  std::vector<JobReport> jobs;
  std::vector<LearnerReport> learners;
  std::vector<FlowReport> flows;  ///< the jobs' lanes; the generator adds its long flows
};

}  // namespace outrider::tg
