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
ReportJson jobs_json(const ReportJson& summary, const ReportArm& arm,
                     const std::vector<ReportRun>& runs);

}  // namespace outrider::lab
