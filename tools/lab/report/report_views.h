#pragma once

#include <istream>
#include <vector>

#include "tools/lab/report/report_data.h"
#include "tools/lab/report/report_series.h"

namespace outrider::lab {

/// The two ways in which iterations are laid on top of each other.
struct ReportViews {
  TimeGrid start;  ///< around the signal: zero is START (or due where there is none)
  TimeGrid due;    ///< the whole burst: zero is the instant at which gradients are ready
};

/// The measured queue over time around each iteration.
///
/// @param file     opens queue.csv; called twice
/// @param rtt_ns   base RTT, > 0
/// @param views    [out] of each point
/// @return "views" of each arm; null where queue.csv has nothing for it
std::vector<ReportJson> queue_views(const std::function<std::unique_ptr<std::istream>()>& file,
                                    const std::vector<ReportArm>& arms,
                                    const std::vector<ReportRun>& runs, std::int64_t rtt_ns,
                                    std::vector<ReportViews>& views);

}  // namespace outrider::lab
