#pragma once

#include <vector>

#include "tools/lab/cli/suite_tests.h"
#include "tools/lab/suite/suite_report.h"

namespace outrider::lab {

/// Measures how exactly the generator sends in the runtime of a suite, at three rates: what bounds
/// that its tests can say. Nothing, after a message, if it cannot be measured there.
std::vector<SuiteAccuracy> measured_accuracy(const SuiteRun& run);

}  // namespace outrider::lab
