#pragma once

#include <cassert>
#include <cstdint>

#include "trafficgen/transport/memory/flight.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// Holds the segments in flight, from the oldest to the newest, in memory that is borrowed while
/// there are any: a Flight, with a ring that doubles as the flight grows. Segments have
/// free-running indices, from Flight::head to Flight::tail. Not thread-safe.
class SegmentRing {
 public:
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::uint64_t size() const noexcept {
    return flight_ == nullptr ? 0 : flight_->tail - flight_->head;
  }
  /// Returns the borrowed memory; nullptr before the first push and after release().
  [[nodiscard]] Flight* flight() noexcept { return flight_; }
  [[nodiscard]] const Flight* flight() const noexcept { return flight_; }

  /// @pre the index is one of a segment
  [[nodiscard]] SentSegment& operator[](std::uint64_t index) noexcept {
    return flight_->ring[index & flight_->mask];
  }
  [[nodiscard]] const SentSegment& operator[](std::uint64_t index) const noexcept {
    return flight_->ring[index & flight_->mask];
  }
  /// @pre !empty()
  [[nodiscard]] const SentSegment& oldest() const noexcept { return (*this)[flight_->head]; }
  /// Returns the index of the first segment with offset >= `offset`, the tail if there is none.
  [[nodiscard]] std::uint64_t find(std::uint64_t offset) const noexcept;

  /// Returns true if another segment fits into the memory that is already borrowed.
  [[nodiscard]] bool has_room() const noexcept {
    return flight_ != nullptr && size() <= flight_->mask;
  }
  enum class Room : std::uint8_t { kYes, kNoFlight, kNoSegments, kLimit };
  /// Like has_room(), but may borrow more. @param limit largest number of segments in flight
  [[nodiscard]] Room room(const TransportMemory& memory, std::uint32_t limit) const noexcept;

  /// @pre has_room() or room() == kYes, offset is the end of the last segment
  void push(TransportMemory& memory, const SentSegment& segment) noexcept {
    assert(segment.length > 0);
    if (!has_room()) [[unlikely]]
      make_room(memory);
    (*this)[flight_->tail++] = segment;
  }
  /// Returns all borrowed memory. @pre everything is acknowledged, or the connection ends
  void release(TransportMemory& memory) noexcept;

 private:
  void make_room(TransportMemory& memory) noexcept;

  Flight* flight_ = nullptr;
};

}  // namespace outrider::tg
