#pragma once

#include <string>

#include "tools/lab/summary/results.h"

namespace outrider::lab {

/// Returns a row per arm and point, and the answer with its warnings. Lines have at most
/// kTableColumns columns. Pure.
std::string brief_text(const Results& results);

}  // namespace outrider::lab
