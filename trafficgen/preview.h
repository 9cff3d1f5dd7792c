#pragma once

#include <cstdint>
#include <string>

#include "common/core/clock.h"
#include "trafficgen/config.h"

namespace outrider {

struct Preview {
  std::string csv{};             ///< a line each after a line of names, in the order of time
  std::uint64_t events = 0;      ///< lines without the first
  bool ends_before_run = false;  ///< more than kMaxPreviewEvents
};

inline constexpr std::uint64_t kMaxPreviewEvents = 5'000'000;

/// What a configuration will start and when, up to `until`, without sending:
/// arrivals of flow groups with the draws of the run itself, starts of long flows,
/// due times of jobs with a fixed schedule before their jitter, starts of jobs in a
/// closed loop (what follows depends on the network). Needs no EAL.
/// @param config valid
/// @throws std::runtime_error if a file of a flow group cannot be read
Preview preview(const GeneratorConfig& config, Duration until);

}  // namespace outrider
