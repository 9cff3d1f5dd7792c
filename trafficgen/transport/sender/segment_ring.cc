#include "trafficgen/transport/sender/segment_ring.h"

namespace outrider::tg {

namespace {
unsigned order_of_ring(const Flight& flight) noexcept {
  return SegmentArena::order_of(flight.mask + 1);
}
}  // namespace

SegmentRing::Room SegmentRing::room(const TransportMemory& memory,
                                    std::uint32_t limit) const noexcept {
  if (has_room()) return Room::kYes;
  if (flight_ == nullptr) return memory.flights.empty() ? Room::kNoFlight : Room::kYes;
  if (size() >= limit) return Room::kLimit;
  const unsigned order = SegmentArena::order_of(2 * (flight_->mask + 1));
  return memory.segments.can_lend(order) ? Room::kYes : Room::kNoSegments;
}

/// Copying at each doubling costs O(1) per segment. The ring's indices stay the same.
void SegmentRing::make_room(TransportMemory& memory) noexcept {
  if (flight_ == nullptr) {
    flight_ = memory.flights.take();
    assert(flight_ != nullptr);
    return;
  }
  const std::uint32_t mask = 2 * flight_->mask + 1;
  SentSegment* ring = memory.segments.take(SegmentArena::order_of(mask + 1));
  for (std::uint64_t i = flight_->head; i != flight_->tail; ++i) ring[i & mask] = (*this)[i];
  if (flight_->ring != flight_->own)
    memory.segments.give_back(flight_->ring, order_of_ring(*flight_));
  flight_->ring = ring;
  flight_->mask = mask;
}

void SegmentRing::release(TransportMemory& memory) noexcept {
  if (flight_ == nullptr) return;
  if (flight_->ring != flight_->own)
    memory.segments.give_back(flight_->ring, order_of_ring(*flight_));
  memory.flights.give_back(flight_);
  flight_ = nullptr;
}

std::uint64_t SegmentRing::find(std::uint64_t offset) const noexcept {
  std::uint64_t low = flight_->head;
  std::uint64_t high = flight_->tail;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if ((*this)[middle].offset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

}  // namespace outrider::tg
