#pragma once

#include <algorithm>
#include <string>

#include "common/config/config_value.h"

namespace outrider::lab {

/// Returns a setting's value as a part of an arm's label: "strict", "0.05", "true".
inline std::string label_part(const ConfigValue& value) {
  const auto* text = value.as<std::string>();
  std::string part = text != nullptr ? *text : display(value);
  std::ranges::replace_if(
      part, [](char c) { return c == ' ' || c == '/'; }, '-');
  return part;
}

/// Returns the last component of a setting's name, which keeps labels short: "floor" for
/// "switch.regulation.window.floor".
inline std::string short_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace outrider::lab
