#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "common/config/config_value.h"

namespace outrider::lab {

// Tables of an experiment that is written by the program itself.

inline ConfigValue text_value(const std::string& value) { return ConfigValue(value); }

inline ConfigValue table_value(std::initializer_list<std::pair<const char*, ConfigValue>> members) {
  ConfigTable made;
  for (const auto& [key, value] : members) made[key] = value;
  return ConfigValue(std::move(made));
}

inline ConfigValue list_value(std::initializer_list<ConfigValue> elements) {
  return ConfigValue(ConfigValue::Array(elements));
}

}  // namespace outrider::lab
