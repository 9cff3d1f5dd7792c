#pragma once

#include <cstdint>
#include <memory>

#include "common/core/clock.h"
#include "common/core/traffic_class.h"
#include "switch/aqm/marker.h"
#include "switch/aqm/step_marker.h"
#include "switch/config/queue_config.h"
#include "switch/egress/marker_list.h"

namespace outrider::sw {

/// The configured marker of one queue, of any kind. It decides and never changes the packet.
/// A step is judged inline, because most queues have one; an AQM with state is called through
/// its interface. Not thread-safe: owned with the queue.
///
/// With StepOccupancy::kOwnAndHigher K is compared with all that a packet waits for: what it finds
/// in its own queue, and what waits then in the queues that are served before it. The senders of a
/// low queue thus slow down when a burst fills a higher one, before their own queue is full.
///
/// Source: the idea of cross-queue notification, arXiv 2401.08890: a low queue marks by the state
/// of a high one. We took no more of it: our choices are one K for the sum of the occupancies, and
/// a regulated threshold that goes by the own occupancy alone.
class QueueMarker {
 public:
  QueueMarker(const MarkerConfig& config, const MarkerSetup& setup);

  /// @param found  occupancy without the packet
  [[nodiscard]] MarkVerdict at_enqueue(TrafficClass c, Occupancy found, Time now) noexcept {
    if (steps_alone_) [[likely]]
      return at_ == MarkAt::kEnqueue ? judge_step(found.packets, threshold_[c])
                                     : MarkVerdict::kPass;
    return other_at_enqueue(c, found, now);
  }

  /// Call once for every packet that leaves the queue.
  /// @param left  occupancy without the packet
  [[nodiscard]] MarkVerdict at_dequeue(TrafficClass c, Duration sojourn, Occupancy left,
                                       Time now) noexcept {
    if (steps_alone_) [[likely]]
      return at_ == MarkAt::kDequeue ? judge_step(left.packets, threshold_[c]) : MarkVerdict::kPass;
    return other_at_dequeue(c, sojourn, left, now);
  }

  /// Returns the occupancy from which the class is marked without regulation. A regulated
  /// threshold above it changes nothing. For a step it is K; another AQM names its own.
  [[nodiscard]] std::uint32_t threshold_packets(TrafficClass c) const noexcept {
    return threshold_[c];
  }

  /// Returns whether every packet that finds the queue empty passes, and need not be shown: a
  /// step's K is at least 1. Something may wait in the higher queues all the same.
  [[nodiscard]] bool passes_first() const noexcept { return aqm_ == nullptr && higher_ == nullptr; }

  /// Returns whether the marker judges at that end of the queue. An AQM with state must see
  /// every packet at both.
  [[nodiscard]] bool judges(MarkAt at) const noexcept {
    return aqm_ != nullptr || (kind_ == MarkerKind::kStep && at_ == at);
  }

 private:
  // Out of line, so that a step stays small where it is judged.
  [[nodiscard]] MarkVerdict other_at_enqueue(TrafficClass c, Occupancy found, Time now) noexcept;
  [[nodiscard]] MarkVerdict other_at_dequeue(TrafficClass c, Duration sojourn, Occupancy left,
                                             Time now) noexcept;
  /// Judges a step that counts the higher queues. @param own  packets of its own queue
  [[nodiscard]] MarkVerdict across_queues(TrafficClass c, std::uint32_t own) const noexcept;

  MarkerKind kind_;
  MarkAt at_;
  bool steps_alone_;  ///< a step that no other queue concerns
  PerClass<std::uint32_t> threshold_{};
  const PortQueue* higher_ = nullptr;  ///< whose packets a step counts too; nullptr: none
  std::uint32_t higher_queues_ = 0;
  std::unique_ptr<Marker> aqm_;  ///< nullptr: tail drop or step
};

}  // namespace outrider::sw
