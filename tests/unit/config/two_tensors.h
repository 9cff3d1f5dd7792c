#pragma once

#include <chrono>

#include "trafficgen/workload/config/model_profile.h"

namespace outrider {

using namespace std::chrono_literals;

inline tg::ModelProfile two_tensors() {
  return {.name = "m",
          .precision = "fp16",
          .parameters = 3,
          .total_bytes = 12,
          .source = "us",
          .forward = 1ms,
          .backward = 2ms,
          .compute_source = tg::ComputeSource::kScaled,
          .compute_basis = "us",
          .tensors = {{"a", 4}, {"b", 8}}};
}

}  // namespace outrider
