#pragma once

#include "tools/lab/report/report_answer.h"
#include "tools/lab/report/report_data.h"

namespace outrider::lab {

/// What report_data() says of an arm, but for its views.
ReportJson arm_json(const ReportJson& summary, const ReportArm& arm,
                    const std::vector<ReportRun>& runs);

/// What the page says of each metric, by its row in the registry.
ReportJson metric_rows_json();

AnswerArm answer_arm(const ReportArm& arm);

}  // namespace outrider::lab
