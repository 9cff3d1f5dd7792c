#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Virtual time that a case takes, its run without background left out; a closed loop as if
/// its bursts had half of the bottleneck. Nothing if a model decides it.
std::optional<double> virtual_seconds(const Case& c);

/// Wall time of all cases [s]. The first case is begun and given up after two seconds: how
/// far it came, and what the others' bottlenecks carry beside its own, is the estimate.
/// Nothing if it cannot be made. @throws EnvironmentError
std::optional<double> estimate_seconds(const std::vector<Case>& cases, std::size_t jobs);

/// "40 s", "12 min", "3.5 h"
std::string duration_text(double seconds);

}  // namespace outrider::lab
