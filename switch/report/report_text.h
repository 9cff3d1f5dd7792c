#pragma once

#include <ostream>

#include "switch/report/report.h"

namespace outrider::sw {

/// What a run prints at its end.
void print_summary(std::ostream& out, const SwitchReport& report);

}  // namespace outrider::sw
