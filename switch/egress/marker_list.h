#pragma once

#include <cstdint>
#include <memory>

#include "common/core/clock.h"
#include "switch/aqm/marker.h"
#include "switch/config/queue_config.h"

namespace outrider::sw {

class PortQueue;

/// Describes the queue that a marker is made for.
struct MarkerSetup {
  Duration packet_time{};  ///< time to send a full frame on the queue's link, > 0
  std::uint64_t seed = 1;
  std::uint32_t entity = 0;  ///< identifies port and queue in the random numbers
  /// The port's queues with lower numbers, an array that outlives the marker.
  const PortQueue* higher = nullptr;
  std::uint32_t higher_queues = 0;
};

/// Makes the AQM of that configuration. Returns nullptr for tail drop and step, which have no
/// state. @pre the configuration is valid
[[nodiscard]] std::unique_ptr<Marker> make_marker(const MarkerConfig& config,
                                                  const MarkerSetup& setup);

}  // namespace outrider::sw
