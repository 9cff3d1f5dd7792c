#pragma once

#include <cstdint>
#include <memory>

#include "common/aqm/marker.h"
#include "common/core/clock.h"
#include "switch/config/queue_config.h"

namespace outrider::sw {

/// What a marker is told of its place.
struct MarkerPlace {
  Duration packet_time{};  ///< of a full frame on the queue's link, > 0
  std::uint64_t seed = 1;
  std::uint32_t entity = 0;  ///< of the port and the queue, for random numbers
};

/// The AQM of that configuration; nullptr for tail drop and step, which have no state.
/// @pre validated
[[nodiscard]] std::unique_ptr<Marker> make_marker(const MarkerConfig& config,
                                                  const MarkerPlace& place);

}  // namespace outrider::sw
