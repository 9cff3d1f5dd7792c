#pragma once

#include <cstdint>
#include <limits>

#include "common/core/clock.h"
#include "switch/aqm/mark_verdict.h"

namespace outrider {

/// The packets that wait in a queue, without the packet that is being judged.
struct Occupancy {
  std::uint32_t packets = 0;
  std::uint64_t bytes = 0;
};

/// Interface of an AQM with state, as used by its queue. It decides, and does not touch the
/// packet. The queue calls at_enqueue() for every packet that it would admit, and
/// at_dequeue() exactly once for every packet that leaves; `now` does not decrease. An AQM
/// overrides the calls that it needs; the others pass all packets.
///
/// O(1), no allocation, not thread-safe: it has the owner of the queue.
class Marker {
 public:
  Marker() = default;
  Marker(const Marker&) = delete;
  Marker& operator=(const Marker&) = delete;
  virtual ~Marker() = default;

  /// @param found  occupancy without the packet
  [[nodiscard]] virtual MarkVerdict at_enqueue(Occupancy /*found*/, Time /*now*/) noexcept {
    return MarkVerdict::kPass;
  }
  /// @param sojourn  of the packet in the queue, >= 0. @param left  occupancy without it
  [[nodiscard]] virtual MarkVerdict at_dequeue(Duration /*sojourn*/, Occupancy /*left*/,
                                               Time /*now*/) noexcept {
    return MarkVerdict::kPass;
  }
  /// Returns the occupancy from which every packet is marked in any case: a regulated threshold
  /// above it changes nothing. By default there is none.
  [[nodiscard]] virtual std::uint32_t threshold_packets() const noexcept {
    return std::numeric_limits<std::uint32_t>::max();
  }
};

}  // namespace outrider
