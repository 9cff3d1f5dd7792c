#pragma once

#include <string>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The answer of report.html for a terminal: for each point a row an arm, and the sentences.
/// At most kTableColumns wide. Pure.
std::string brief_text(const Summary& summary);

}  // namespace outrider::lab
