#pragma once

#include <istream>
#include <vector>

#include "tools/lab/report/report_data.h"
#include "tools/lab/report/report_series.h"

namespace outrider::lab {

/// The two grids on which iterations are aligned.
struct ReportViews {
  TimeGrid start;  ///< around the signal: zero is START (or due where there is none)
  TimeGrid due;    ///< around the whole burst: zero is the instant when gradients are ready
};

/// Computes how the measured queue behaves over time around each iteration.
///
/// @param file     opens queue.csv; called twice
/// @param rtt_ns   base RTT, > 0
/// @param views    [out] the grids of each point
/// @return "views" of each arm; null if queue.csv has nothing for the arm
std::vector<ReportJson> queue_views(const std::function<std::unique_ptr<std::istream>()>& file,
                                    const std::vector<ReportArm>& arms,
                                    const std::vector<ReportRun>& runs, std::int64_t rtt_ns,
                                    std::vector<ReportViews>& views);

}  // namespace outrider::lab
