#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/lab/report/report_data.h"
#include "tools/lab/results/query.h"

namespace outrider::lab {

/// Returns the rows of a query as objects, whose keys are the names of its columns.
ReportJson rows_json(const ResultsReader& results, std::string_view sql);

/// Returns the first row as an object; null if there is none.
ReportJson row_json(const ResultsReader& results, std::string_view sql);

/// Returns the condition that a row is of a case, or of a case of an arm.
std::string of_case(std::size_t index);
std::string of_arm(const ArmSummary& arm);

}  // namespace outrider::lab
