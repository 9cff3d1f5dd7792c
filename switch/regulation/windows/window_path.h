#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "switch/regulation/windows/window_flow.h"

namespace outrider {

/// Returns n times a round trip, or another time in nanoseconds.
inline Duration round_trips(double n, double rtt_ns) noexcept {
  return Duration{static_cast<std::int64_t>(n * rtt_ns)};
}

/// State of the queue at a bottleneck at the time of a call.
struct BottleneckQueue {
  std::uint64_t waiting_bytes = 0;           ///< in the layer of the drain rate
  std::optional<std::uint16_t> threshold{};  ///< h while regulated [packets]
};

/// A bottleneck and the paths of flows through it.
struct WindowPath {
  double bytes_per_ns = 0;           ///< drain rate, > 0
  std::uint32_t overhead_bytes = 0;  ///< what a frame costs beyond its own bytes at that rate
  Duration base_rtt{};               ///< of all flows, without queueing; zero: measured for each

  /// Returns how long a packet that enters the queue now will wait [ns].
  [[nodiscard]] double drain_ns(const BottleneckQueue& queue) const noexcept {
    return static_cast<double>(static_cast<std::int64_t>(queue.waiting_bytes)) / bytes_per_ns;
  }
  /// Returns a round trip without queueing. @pre f.known()
  [[nodiscard]] double rtt_ns(const WindowFlow& f) const noexcept {
    assert(f.up && f.down);
    const bool given = base_rtt > Duration::zero();
    return static_cast<double>((given ? base_rtt : *f.up + *f.down).count());
  }
  /// Returns the bandwidth-delay product of the flow's path [payload bytes].
  [[nodiscard]] double pipe_bytes(const WindowFlow& f, double own_rtt_ns) const noexcept {
    return bytes_per_ns * own_rtt_ns * f.payload_share(overhead_bytes);
  }
};

}  // namespace outrider
