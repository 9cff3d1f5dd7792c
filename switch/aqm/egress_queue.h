#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/core/traffic_class.h"

namespace outrider {

/// FIFO of waiting packets with limits in packets and bytes. It is generic in the packet handle,
/// which it never dereferences. It decides admission only: the caller acts on the decision,
/// and owns every packet that was not admitted.
///
/// Identity, per class: enqueued == dequeued + occupancy.
/// Not thread-safe: the lcore that owns the egress port owns the queue.
template <class P>
class EgressQueue {
 public:
  struct Limits {
    std::uint32_t packets = 0;             ///< >= 1
    std::optional<std::uint64_t> bytes{};  ///< frame bytes; absent: no limit
  };
  struct Item {
    P packet{};
    Time enqueued_at{};
    std::uint32_t frame_bytes = 0;
    TrafficClass traffic_class = TrafficClass::kBackground;
  };

  explicit EgressQueue(Limits limits)
      : limit_packets_(limits.packets),
        mask_(std::bit_ceil(limits.packets) - 1),
        limit_bytes_(limits.bytes.value_or(std::numeric_limits<std::uint64_t>::max())),
        ring_(std::make_unique<Item[]>(slots())) {
    assert(limits.packets >= 1);
  }

  /// Returns the number of places for packets: the largest limit that change() accepts.
  [[nodiscard]] std::size_t slots() const noexcept { return std::size_t{mask_} + 1; }

  /// Changes the limits. Packets that wait stay, even if they exceed the new limits.
  /// @pre limits.packets <= slots()
  void change(Limits limits) noexcept {
    assert(limits.packets >= 1 && limits.packets <= slots());
    limit_packets_ = limits.packets;
    limit_bytes_ = limits.bytes.value_or(std::numeric_limits<std::uint64_t>::max());
  }

  /// Moves all packets that wait in `other` to this queue, in order, whatever the limits.
  /// @pre this queue is empty and has a slot for each
  void take_all(EgressQueue& other) noexcept {
    assert(empty() && other.occupancy_packets() <= slots());
    head_ = tail_ = other.head_;  // packets keep their numbers
    while (!other.empty()) {
      Item& item = ring_[tail_++ & mask_];
      item = other.pop();
      occupancy_bytes_ += item.frame_bytes;
      ++occupancy_[item.traffic_class];
    }
  }

  [[nodiscard]] bool admits(std::uint32_t frame_bytes) const noexcept {
    return occupancy_packets() < limit_packets_ && occupancy_bytes_ + frame_bytes <= limit_bytes_;
  }

  /// The same for a packet that finds the queue empty.
  [[nodiscard]] bool admits_first(std::uint32_t frame_bytes) const noexcept {
    assert(empty());
    return frame_bytes <= limit_bytes_;
  }

  /// @param more_packets,more_bytes  that wait elsewhere and count against the limits
  /// @return why a packet of that size has no room; nothing: it may be pushed
  [[nodiscard]] std::optional<DropReason> refuses(std::uint32_t frame_bytes,
                                                  std::uint32_t more_packets = 0,
                                                  std::uint64_t more_bytes = 0) const noexcept {
    if (occupancy_packets() + more_packets >= limit_packets_) return DropReason::kTailPackets;
    if (occupancy_bytes_ + more_bytes + frame_bytes > limit_bytes_) return DropReason::kTailBytes;
    return std::nullopt;
  }

  /// @pre admits(frame_bytes)
  void push(P packet, Time now, std::uint32_t frame_bytes, TrafficClass c) noexcept {
    assert(admits(frame_bytes));
    put(packet, now, frame_bytes, c);
  }

  /// Pushes a packet that was admitted earlier, perhaps under other limits.
  /// @pre a slot is free
  void put(P packet, Time now, std::uint32_t frame_bytes, TrafficClass c) noexcept {
    assert(occupancy_packets() < slots());
    Item& item = ring_[tail_++ & mask_];
    item.packet = packet;
    item.enqueued_at = now;
    item.frame_bytes = frame_bytes;
    item.traffic_class = c;
    occupancy_bytes_ += frame_bytes;
    ++occupancy_[c];
  }

  /// @pre !empty()
  Item pop() noexcept {
    assert(!empty());
    const Item& item = ring_[head_++ & mask_];
    occupancy_bytes_ -= item.frame_bytes;
    --occupancy_[item.traffic_class];
    return {item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class};
  }

  /// Removes the latest arrival, for callers that push out packets. @pre !empty()
  Item pop_latest() noexcept {
    assert(!empty());
    const Item& item = ring_[--tail_ & mask_];
    occupancy_bytes_ -= item.frame_bytes;
    --occupancy_[item.traffic_class];
    return {item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class};
  }

  /// Returns the packet that pop() returns next. @pre !empty()
  [[nodiscard]] const Item& head() const noexcept {
    assert(!empty());
    return ring_[head_ & mask_];
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::uint32_t occupancy_packets() const noexcept { return tail_ - head_; }
  [[nodiscard]] std::uint64_t occupancy_bytes() const noexcept { return occupancy_bytes_; }
  /// Gives a packet that passes the empty queue its number. @pre empty()
  void pass_number() noexcept {
    assert(empty());
    ++head_;
    ++tail_;
  }
  /// Packets are numbered in the order in which they are put or pass, modulo 2^32. Returns the
  /// number of the next one. (Callers that push out packets number some twice.)
  [[nodiscard]] std::uint32_t next_number() const noexcept { return tail_; }
  /// Returns whether the packet with that number, or any before it, still waits. @pre it is no
  /// later than next_number() was
  [[nodiscard]] bool waits_up_to(std::uint32_t number) const noexcept {
    return !empty() && number - head_ <= occupancy_packets();
  }
  /// Returns the packet that `ahead` others precede. @pre ahead < occupancy_packets()
  [[nodiscard]] const Item& behind(std::uint32_t ahead) const noexcept {
    assert(ahead < occupancy_packets());
    return ring_[(head_ + ahead) & mask_];
  }
  [[nodiscard]] const PerClass<std::uint32_t>& occupancy_by_class() const noexcept {
    return occupancy_;
  }

 private:
  // Every packet touches these, so they share a cache line.
  std::uint32_t limit_packets_;
  std::uint32_t head_ = 0, tail_ = 0;  // free-running; their difference is the occupancy
  std::uint32_t mask_;
  std::uint64_t occupancy_bytes_ = 0;
  std::uint64_t limit_bytes_;  ///< without a limit: the largest value
  std::unique_ptr<Item[]> ring_;
  PerClass<std::uint32_t> occupancy_{};
};

}  // namespace outrider
