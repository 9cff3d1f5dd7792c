#include "trafficgen/transport/memory/segment_arena.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

SegmentArena::SegmentArena(std::uint32_t segments) {
  const std::uint32_t units = std::max(1U, (segments + kUnitSegments - 1) / kUnitSegments);
  assert(units < 1U << (kOrders - 1));
  segments_ = std::make_unique_for_overwrite<SentSegment[]>(std::size_t{units} * kUnitSegments);
  units_.resize(units);
  std::ranges::fill(heads_, kNone);
  // Adds aligned blocks, the largest first: one for each binary digit 1 of the number of units.
  for (std::uint32_t at = 0; at < units;) {
    const auto order = static_cast<unsigned>(std::bit_width(units - at) - 1);
    add_free(at, order);
    at += 1U << order;
  }
}

SentSegment* SegmentArena::take(unsigned order) noexcept {
  assert(can_lend(order));
  auto from = order + static_cast<unsigned>(std::countr_zero(free_orders_ >> order));
  const std::uint32_t unit = heads_[from];
  remove_free(unit);
  while (from > order) {  // algorithm R: the upper halves become free
    --from;
    add_free(unit + (1U << from), from);
  }
  lent_units_ += 1U << order;
  return &segments_[std::size_t{unit} * kUnitSegments];
}

void SegmentArena::give_back(SentSegment* ring, unsigned order) noexcept {
  auto unit = static_cast<std::uint32_t>(ring - segments_.get()) / kUnitSegments;
  assert(unit % (1U << order) == 0 && lent_units_ >= 1U << order);
  lent_units_ -= 1U << order;
  for (;; ++order) {  // algorithm S
    const std::uint32_t buddy = unit ^ (1U << order);
    if (buddy >= units_.size() || !units_[buddy].free || units_[buddy].order != order) break;
    remove_free(buddy);
    unit = std::min(unit, buddy);
  }
  add_free(unit, order);
}

void SegmentArena::add_free(std::uint32_t unit, unsigned order) noexcept {
  Unit& u = units_[unit];
  assert(!u.free);
  u = {.next = heads_[order],
       .previous = kNone,
       .order = static_cast<std::uint8_t>(order),
       .free = true};
  if (u.next != kNone) units_[u.next].previous = unit;
  heads_[order] = unit;
  free_orders_ |= 1U << order;
}

void SegmentArena::remove_free(std::uint32_t unit) noexcept {
  Unit& u = units_[unit];
  assert(u.free);
  if (u.previous != kNone) units_[u.previous].next = u.next;
  else heads_[u.order] = u.next;
  if (u.next != kNone) units_[u.next].previous = u.previous;
  if (heads_[u.order] == kNone) free_orders_ &= ~(1U << u.order);
  u.free = false;
}

}  // namespace outrider::tg
