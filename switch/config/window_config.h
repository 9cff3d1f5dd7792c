#pragma once

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/regulation/window_policy.h"

namespace outrider {

// Binding of [switch.regulation.window], see common/config/config_binding.h.

inline constexpr auto kWindowRules =
    choices<WindowRule>({{"complement", WindowRule::kComplement}, {"strict", WindowRule::kStrict}});

void describe(Settings& v, WindowPolicy& c);

}  // namespace outrider
