#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "switch/aqm/egress_queue.h"
#include "switch/config/queue_config.h"
#include "switch/report/pace_counters.h"

namespace outrider::sw {

/// Keeps background packets, in order, before a regulated queue.
///
/// A paced packet is let in while the queue is below the target. A burst then finds no more
/// than the target before it, whether or not the senders of background respond to marks.
/// Background also enters at a floor rate at least, so that a long burst does not starve it.
/// The target is at least 1, so the queue never runs empty while a paced packet waits, and the
/// link loses no time.
///
/// The class only decides and keeps order. The queue's limits count paced packets as its own,
/// so that pacing has no more buffer than a plain queue. Paced background must not take the
/// room that a burst was announced for: if a packet of another class finds the limit reached,
/// the latest paced packet is dropped. Not thread-safe: owned with the queue.
class PacingQueue {
 public:
  using Queue = EgressQueue<Packet*>;

  /// @param limit_packets  limit of the queue. @param floor  rate of the floor; 0: none
  PacingQueue(std::uint32_t limit_packets, BitRate floor)
      : waiting_({limit_packets, std::nullopt}),
        floor_bytes_per_ns_(static_cast<double>(floor.bits_per_second) / 8e9) {}

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::uint32_t packets() const noexcept { return waiting_.occupancy_packets(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return waiting_.occupancy_bytes(); }
  [[nodiscard]] const PaceCounters& counters() const noexcept { return counters_; }

  /// Takes over the packets, the floor's credit and the counters of `before`, which this object
  /// replaces. @pre nothing waits
  void take_over(PacingQueue& before) noexcept {
    waiting_.take_all(before.waiting_);
    floor_bytes_ = before.floor_bytes_;
    refilled_at_ = before.refilled_at_;
    counters_ = before.counters_;
  }
  /// Goes on counting from the counters of an earlier object.
  void resume(const PaceCounters& counters) noexcept { counters_ = counters; }

  /// Appends a packet to those that wait. @pre fewer than the limit wait
  void push(Packet* packet, Time now, std::uint32_t frame_bytes) noexcept {
    waiting_.push(packet, now, frame_bytes, TrafficClass::kBackground);
    ++counters_.held;
    counters_.max_held = std::max<std::uint64_t>(counters_.max_held, packets());
  }

  /// Returns whether a packet of `frame_bytes` may enter the queue. If so, charges it to the
  /// floor.
  /// @param occupancy of the queue. @param target  absent: the queue is not regulated
  [[nodiscard]] bool admits(std::uint32_t frame_bytes, std::uint32_t occupancy,
                            std::optional<std::uint16_t> target, Time now) noexcept {
    refill(now);
    return judge(frame_bytes, occupancy, target) != Why::kNo;
  }

  /// Takes out the next packet if it may enter the queue now; else returns an item without a
  /// packet.
  [[nodiscard]] Queue::Item release_next(std::uint32_t occupancy,
                                         std::optional<std::uint16_t> target, Time now) noexcept {
    if (empty()) return {};
    refill(now);
    const Why why = judge(waiting_.head().frame_bytes, occupancy, target);
    if (why == Why::kNo) return {};
    const Queue::Item item = waiting_.pop();
    counters_.released_room += why == Why::kRoom;
    counters_.released_floor += why == Why::kFloor;
    counters_.released_end += why == Why::kEnd;
    counters_.held_ns += static_cast<std::uint64_t>((now - item.enqueued_at).count());
    return item;
  }

  /// Takes out the latest packet, because a burst needs its room. @pre !empty()
  [[nodiscard]] Queue::Item push_out() noexcept {
    ++counters_.pushed_out;
    return waiting_.pop_latest();
  }

 private:
  enum class Why : std::uint8_t { kNo, kRoom, kFloor, kEnd };
  /// Two full frames: the most that the floor may let in at once after an idle time.
  static constexpr double kDepthBytes = 2 * kFullFrameBytes;

  [[nodiscard]] Why judge(std::uint32_t frame_bytes, std::uint32_t occupancy,
                          std::optional<std::uint16_t> target) noexcept {
    if (!target) return Why::kEnd;
    assert(*target >= 1);
    const double bytes = frame_bytes;
    if (occupancy < *target) {
      floor_bytes_ = std::max(0.0, floor_bytes_ - bytes);  // counts towards the floor as well
      return Why::kRoom;
    }
    if (floor_bytes_ < bytes) return Why::kNo;
    floor_bytes_ -= bytes;
    return Why::kFloor;
  }
  void refill(Time now) noexcept {
    const auto elapsed_ns = static_cast<double>((now - refilled_at_).count());
    floor_bytes_ = std::min(kDepthBytes, floor_bytes_ + elapsed_ns * floor_bytes_per_ns_);
    refilled_at_ = now;
  }

  Queue waiting_;
  double floor_bytes_per_ns_;
  double floor_bytes_ = 0;
  Time refilled_at_{};
  PaceCounters counters_{};
};

}  // namespace outrider::sw
