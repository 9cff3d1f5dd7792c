#pragma once

#include "common/config/checks.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Checks the streams of a file, the pauses beside them, and what is to be measured with them.
void check_streams_of(const Checks& root, const GeneratorConfig& config);

}  // namespace outrider::tg
