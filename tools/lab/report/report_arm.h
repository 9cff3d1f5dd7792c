#pragma once

#include "tools/lab/report/report_data.h"

namespace outrider::lab {

/// Returns the part of report_data() about one arm, without its views.
ReportJson arm_json(const ResultsReader& results, const ArmSummary& arm,
                    const std::vector<ReportRun>& runs);

/// Returns what the page shows about each metric, taken from its row in metrics().
ReportJson metric_rows_json();
/// Does the same for the figures of groups of background.
ReportJson group_rows_json();

}  // namespace outrider::lab
