#pragma once

#include <nlohmann/json.hpp>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// As every result has it; nlohmann writes what is not a number as null.
inline nlohmann::ordered_json json_of(const Estimate& e) {
  return {{"value", e.value}, {"low", e.low}, {"high", e.high}};
}

}  // namespace outrider::lab
