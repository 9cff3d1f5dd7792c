#pragma once

#include <ostream>

#include "switch/report/report.h"

namespace outrider {

/// What a run prints at its end.
void print_summary(std::ostream& out, const SwitchReport& report);

}  // namespace outrider
