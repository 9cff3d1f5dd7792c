#include "switch/config/window_config.h"

namespace outrider {

void check(const Checks& at, const WindowPolicy& policy) {
  at.require(policy.floor >= 0 && policy.floor < 1, "floor", std::to_string(policy.floor),
             "must be at least 0 and less than 1");
  at.in_interval("gain", policy.gain, 0, 100, false);
  at.in_interval("standing_clamp", policy.standing_clamp, 1, 100, true);
  at.in_interval("release_rtts", policy.release_rtts, 0, 1000, true);
  at.not_negative("base_rtt", policy.base_rtt);
  at.in_range("max_flows", policy.max_flows, 1, 1U << 20);
}

}  // namespace outrider
