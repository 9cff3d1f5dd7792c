#pragma once

#include <string>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Returns the answer of report.html for a terminal: for each point a row per arm and the
/// sentences. Lines have at most kTableColumns columns. Pure.
std::string brief_text(const Summary& summary);

}  // namespace outrider::lab
