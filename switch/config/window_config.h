#pragma once

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/regulation/window_policy.h"

namespace outrider {

// Binding of [switch.regulation.window], see common/config/config_binding.h.

inline constexpr auto kWindowRules =
    choices<WindowRule>({{"complement", WindowRule::kComplement}, {"strict", WindowRule::kStrict}});

template <class V>
void describe(V& v, WindowPolicy& c) {
  v.choice("rule", c.rule, kWindowRules);
  v.share("floor", c.floor);
  v.value("gain", c.gain);
  v.value("standing_clamp", c.standing_clamp);
  v.value("release_rtts", c.release_rtts);
  v.value("spare_marks", c.spare_marks);
  v.duration("base_rtt", c.base_rtt);
  v.value("max_flows", c.max_flows);
}

void check(const Checks& at, const WindowPolicy& policy);

}  // namespace outrider
