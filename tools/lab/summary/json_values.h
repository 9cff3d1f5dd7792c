#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// Returns an estimate in the form used by every result. nlohmann writes NaN as null.
inline nlohmann::ordered_json json_of(const Estimate& e) {
  return {{"value", e.value}, {"low", e.low}, {"high", e.high}};
}

/// Returns the value of a parameter; null: it has none.
inline nlohmann::ordered_json parameter_json(const ParameterValue& value) {
  return std::visit(
      [](const auto& v) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) return nullptr;
        else return v;
      },
      value);
}

}  // namespace outrider::lab
