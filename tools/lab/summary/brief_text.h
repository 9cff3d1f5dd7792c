#pragma once

#include <string>

#include "tools/lab/summary/result_arms.h"

namespace outrider::lab {

/// Returns a row per arm and point, and the answer with its warnings. Lines have at most
/// kTableColumns columns. Pure. @param summary  summary.json
std::string brief_text(const ReportJson& summary);

}  // namespace outrider::lab
