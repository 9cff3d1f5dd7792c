#pragma once

#include "common/config/checks.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Checks that `mbufs`, if it is given, is enough. What the need is, config_toml.h says.
void check_mbufs(const Checks& root, const GeneratorConfig& config);

}  // namespace outrider::tg
