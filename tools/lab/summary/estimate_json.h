#pragma once

#include <nlohmann/json.hpp>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// Returns an estimate in the form used by every result. nlohmann writes NaN as null.
inline nlohmann::ordered_json json_of(const Estimate& e) {
  return {{"value", e.value}, {"low", e.low}, {"high", e.high}};
}

}  // namespace outrider::lab
