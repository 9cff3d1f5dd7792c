#pragma once

#include "tools/lab/report/report_data.h"

namespace outrider::lab {

/// Returns an arm's jobs, null if it has one only. Values are means over its runs, and null if one
/// run has none:
///
///   name, iterations (complete ones of all runs), completion_seconds,
///   iteration_seconds_median, iteration_seconds_p99, communication_seconds_median,
///   communication_seconds_p99,
///   attribution {part: mean ms of a push} or null,
///   only in a fabric: worst_links[] (of each run, each once), worker_start_queue_packets_mean,
///   worker_start_queue_total_packets_mean
ReportJson jobs_json(const ResultsReader& results, const ArmSummary& arm,
                     const std::vector<ReportRun>& runs);

/// Adds the times of an iteration's pushes that have them, and the number of those.
void add_times(const ReportIteration& iteration, BurstTimes& sums, std::int64_t& bursts);
/// Returns each part's mean [ms]; null of no bursts.
ReportJson mean_times_json(const BurstTimes& sums, std::int64_t bursts);

}  // namespace outrider::lab
