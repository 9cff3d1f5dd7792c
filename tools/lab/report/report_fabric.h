#pragma once

#include <vector>

#include "tools/lab/report/report_data.h"
#include "tools/lab/results/query.h"

namespace outrider::lab {

/// Adds to each of `out`, the arms of the page, what the first of its cases says of links and jobs;
/// null unless it ran in a fabric:
///
///   links           seed, end_ms, step_ms (0: no series), tiers[] of {tier, links, joined,
///                   utilisation_mean, utilisation_max, busiest, ce_marks, drops, longest_wait,
///                   worker_start_queue_packets_mean, worker_start_queue_total_packets_mean,
///                   rows[] of {link, links, cells[] of utilisation in thousandths}}
///   jobs_over_time  seed, end_ms, jobs[] of {name,
///                   iterations[] of [iteration, begin, first gradient, gradients ready, parameters
///                   there, end] in ms, left_out (iterations)}
///
/// @throws std::runtime_error with what is wrong with the tables
void add_fabric(const ResultsReader& results, const std::vector<ArmSummary>& arms,
                const std::vector<ReportRun>& runs, ReportJson& out);

}  // namespace outrider::lab
