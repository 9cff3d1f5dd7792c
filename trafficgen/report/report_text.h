#pragma once

#include <ostream>

#include "trafficgen/report/report.h"

namespace outrider::tg {

/// Prints the summary at the end of a run with hosts.
void print_summary(std::ostream& out, const GeneratorReport& report);

}  // namespace outrider::tg
