#pragma once

#include <string>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Returns the table that compares the arms, for a terminal of at least 110 columns.
std::string comparison_table(const Summary& summary);

}  // namespace outrider::lab
