#pragma once

#include <string>

#include "tools/lab/tables/table_rows.h"

namespace outrider::lab {

/// Returns what the groups of background offered, got and completed, a line for each below its arm;
/// empty without groups.
std::string group_block(const Arms& point);

}  // namespace outrider::lab
