#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "common/aqm/codel_marker.h"
#include "common/aqm/mark_verdict.h"
#include "common/aqm/pie_marker.h"
#include "common/aqm/red_marker.h"
#include "common/aqm/step_marker.h"
#include "common/core/clock.h"
#include "common/core/random.h"
#include "common/core/traffic_class.h"
#include "common/core/units.h"
#include "switch/config/queue_config.h"

namespace outrider {

/// The configured marker of one queue, whatever its kind: decides, and leaves the
/// packet alone. RED and PIE draw from a stream of their own, a number for every
/// packet. Not thread-safe: owned with the queue.
class QueueMarker {
 public:
  struct Occupancy {
    std::uint32_t packets = 0;
    std::uint64_t bytes = 0;
  };

  /// @param packet_time  of a full frame on the queue's link, > 0
  /// @param entity  of the port and the queue, for its random numbers
  QueueMarker(const MarkerConfig& config, Duration packet_time, std::uint64_t seed,
              std::uint32_t entity);

  /// @param found  occupancy without the packet
  [[nodiscard]] MarkVerdict at_enqueue(TrafficClass c, Occupancy found, Time now) noexcept {
    if (kind_ == MarkerKind::kStep) [[likely]]
      return at_ == MarkAt::kEnqueue ? judge_step(found.packets, threshold_[c])
                                     : MarkVerdict::kPass;
    return other_at_enqueue(found, now);
  }

  /// Once for every packet that leaves the queue.
  /// @param left  occupancy without the packet
  [[nodiscard]] MarkVerdict at_dequeue(TrafficClass c, Duration sojourn, Occupancy left,
                                       Time now) noexcept {
    if (kind_ == MarkerKind::kStep) [[likely]]
      return at_ == MarkAt::kDequeue ? judge_step(left.packets, threshold_[c]) : MarkVerdict::kPass;
    return other_at_dequeue(sojourn, left, now);
  }

  /// Occupancy from which the class is marked anyway; above it a regulated threshold
  /// changes nothing. Step: K; RED: Kmax; PIE and CoDel know none.
  [[nodiscard]] std::uint32_t threshold_packets(TrafficClass c) const noexcept {
    return threshold_[c];
  }

 private:
  [[nodiscard]] MarkVerdict other_at_enqueue(Occupancy found, Time now) noexcept;
  [[nodiscard]] MarkVerdict other_at_dequeue(Duration sojourn, Occupancy left, Time now) noexcept;

  /// Of a marker with a state: apart, so that a step takes little of its queue's cache lines.
  struct Stateful {
    std::variant<std::monostate, RedMarker, PieMarker, CodelMarker> state;
    RandomStream random;
  };

  MarkerKind kind_;
  MarkAt at_;
  PerClass<std::uint32_t> threshold_{};
  std::unique_ptr<Stateful> other_;
};

}  // namespace outrider
