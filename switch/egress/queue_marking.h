#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/core/traffic_class.h"
#include "switch/config/queue_config.h"
#include "switch/egress/queue_marker.h"
#include "switch/egress/queue_regulation.h"

namespace outrider::sw {

/// The verdict of a queue's marker and its regulated threshold on a packet.
enum class Judgement : std::uint8_t { kPass, kMark, kMarkLow, kDrop };

/// Judges the packets of one queue at both of its ends: first its own marker, then the regulated
/// threshold, which never drops. Decides, and never changes a packet. Not thread-safe: owned with
/// the queue.
class QueueMarking {
 public:
  /// @param regulation must outlive it
  QueueMarking(const MarkerConfig& config, const MarkerSetup& setup, QueueRegulation& regulation)
      : marker_(config, setup), regulation_(regulation) {
    follow(config);
  }

  [[nodiscard]] bool at_enqueue() const noexcept { return at_enqueue_; }
  [[nodiscard]] bool at_dequeue() const noexcept { return at_dequeue_; }
  /// Returns whether every packet that finds the queue empty passes, and need not be shown.
  [[nodiscard]] bool passes_first() const noexcept { return passes_first_; }
  /// Returns whether a packet that is to be marked but is not ECN-capable is dropped instead.
  [[nodiscard]] bool drops_not_ect() const noexcept { return drops_not_ect_; }

  /// @param met  what waits before the packet. @pre at_enqueue()
  [[nodiscard]] Judgement enqueued(TrafficClass c, Occupancy met, Time now) noexcept {
    const MarkVerdict own = marker_.at_enqueue(c, met, now);
    if (own != MarkVerdict::kPass) [[unlikely]]
      return judged(own);
    return low_at_enqueue_ && reaches_low(c, met.packets, now) ? Judgement::kMarkLow
                                                               : Judgement::kPass;
  }
  /// @param left  in the FIFO. @param met  what waits before such a packet
  /// @param spared  whether the regulated threshold is no concern of it. @pre at_dequeue()
  [[nodiscard]] Judgement dequeued(TrafficClass c, Duration sojourn, Occupancy left, Occupancy met,
                                   bool spared, Time now) noexcept {
    const MarkVerdict own = marker_.at_dequeue(c, sojourn, left, now);
    if (own != MarkVerdict::kPass) return judged(own);
    return low_at_dequeue_ && !spared && reaches_low(c, met.packets, now) ? Judgement::kMarkLow
                                                                          : Judgement::kPass;
  }
  /// Has the regulator do what is due, for a packet that finds the queue empty: no threshold is 0,
  /// so none marks it. @pre passes_first()
  void passed_first(TrafficClass c, Time now) noexcept {
    if (low_) static_cast<void>(reaches_low(c, 0, now));
  }

  /// Returns the occupancy that marks background now.
  [[nodiscard]] std::uint32_t background_threshold(Time now) noexcept {
    return regulation_.background_threshold(marker_.threshold_packets(TrafficClass::kBackground),
                                            now);
  }
  /// Writes the thresholds without regulation.
  void count(QueueCounts& n) const noexcept {
    n.initial_threshold_packets = initial_threshold_packets_;
    n.background_threshold_packets = marker_.threshold_packets(TrafficClass::kBackground);
  }

  /// Applies a configuration. @param marker  swapped in if it is there
  /// @pre the regulation has been changed
  void change(const MarkerConfig& config, std::optional<QueueMarker>& marker) noexcept {
    if (marker) std::swap(marker_, *marker);
    follow(config);
  }

 private:
  [[nodiscard]] static Judgement judged(MarkVerdict own) noexcept {
    return own == MarkVerdict::kDrop ? Judgement::kDrop : Judgement::kMark;
  }
  [[nodiscard]] bool reaches_low(TrafficClass c, std::uint32_t met, Time now) noexcept {
    return regulation_.reaches(c, met, marker_.threshold_packets(c), now);
  }
  void follow(const MarkerConfig& config) noexcept {
    low_ = regulation_.marks();
    low_at_enqueue_ = low_ && config.at == MarkAt::kEnqueue;
    low_at_dequeue_ = low_ && config.at == MarkAt::kDequeue;
    at_enqueue_ = marker_.judges(MarkAt::kEnqueue) || low_at_enqueue_;
    at_dequeue_ = marker_.judges(MarkAt::kDequeue) || low_at_dequeue_;
    passes_first_ = !at_dequeue_ && marker_.passes_first();
    drops_not_ect_ = not_ect_of(config) == NotEct::kDrop;
    initial_threshold_packets_ = config.threshold_packets;
  }

  QueueMarker marker_;
  QueueRegulation& regulation_;
  bool low_ = false;  ///< the regulated threshold marks
  bool low_at_enqueue_ = false;
  bool low_at_dequeue_ = false;
  bool at_enqueue_ = false;
  bool at_dequeue_ = false;
  bool passes_first_ = false;
  bool drops_not_ect_ = false;
  std::uint32_t initial_threshold_packets_ = 0;
};

}  // namespace outrider::sw
