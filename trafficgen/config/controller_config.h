#pragma once

#include <array>
#include <cstddef>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "trafficgen/transport/control/congestion_control.h"

namespace outrider {

/// Rules of the settings of congestion control that need nothing else.
void check(const Checks& at, const ControllerConfig& control);

inline constexpr auto kControllers = [] {
  std::array<Choice<Controller>, kControllerRows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = {kControllerRows[i].name, kControllerRows[i].kind};
  return names;
}();

template <class V>
void describe(V& v, ControllerConfig& c) {
  v.choice("controller", c.controller, kControllers);
  v.bytes("mss_bytes", c.mss_bytes);
  v.value("initial_window_segments", c.initial_window_segments);
  v.value("dctcp_gain", c.dctcp_gain);
  v.value("dctcp_initial_alpha", c.dctcp_initial_alpha);
  v.value("dctcp_min_window_segments", c.dctcp_min_window_segments);
  v.value("hystart", c.hystart);
  v.duration("hystart_min_rtt_threshold", c.hystart_min_rtt_threshold);
  v.duration("hystart_max_rtt_threshold", c.hystart_max_rtt_threshold);
  v.rate("rate", c.rate);
}

}  // namespace outrider
