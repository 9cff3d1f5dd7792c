#pragma once

#include <ostream>

#include "trafficgen/report/report.h"

namespace outrider::tg {

/// What a run with hosts prints at its end.
void print_summary(std::ostream& out, const GeneratorReport& report);

}  // namespace outrider::tg
