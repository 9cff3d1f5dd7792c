#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "switch/config/config.h"

namespace outrider::sw {

/// Returns the index of the port with that name. @pre the switch has one
inline std::uint16_t index_of_port(const SwitchConfig& config, const std::string& name) {
  const auto it = std::ranges::find(config.ports, name, &SwitchPortConfig::name);
  return static_cast<std::uint16_t>(it - config.ports.begin());
}

}  // namespace outrider::sw
