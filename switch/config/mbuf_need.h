#pragma once

#include "common/config/checks.h"
#include "switch/config/config.h"

namespace outrider::sw {

/// Checks that `mbufs`, if it is given, is enough. What the need is, config_toml.h says.
void check_mbufs(const Checks& root, const SwitchProcessConfig& config);

}  // namespace outrider::sw
