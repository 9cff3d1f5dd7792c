#pragma once

#include <ostream>

#include "switch/report/report.h"

namespace outrider::sw {

/// Prints the summary that ends a run.
void print_summary(std::ostream& out, const SwitchReport& report);

}  // namespace outrider::sw
