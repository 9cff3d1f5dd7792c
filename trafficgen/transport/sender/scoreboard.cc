#include "trafficgen/transport/sender/scoreboard.h"

#include <algorithm>
#include <utility>

namespace outrider::tg {

namespace {
unsigned order_of_ring(const Flight& flight) noexcept {
  return SegmentArena::order_of(flight.mask + 1);
}
}  // namespace

Scoreboard::Room Scoreboard::room(const TransportMemory& memory,
                                  std::uint32_t limit) const noexcept {
  if (has_room()) return Room::kYes;
  if (flight_ == nullptr) return memory.flights.empty() ? Room::kNoFlight : Room::kYes;
  if (segments() >= limit) return Room::kLimit;
  const unsigned order = SegmentArena::order_of(2 * (flight_->mask + 1));
  return memory.segments.can_lend(order) ? Room::kYes : Room::kNoSegments;
}

/// Copying at each doubling costs O(1) per segment. The ring's indices stay the same.
void Scoreboard::make_room(TransportMemory& memory) noexcept {
  if (flight_ == nullptr) {
    flight_ = memory.flights.take();
    assert(flight_ != nullptr);
    return;
  }
  const std::uint32_t mask = 2 * flight_->mask + 1;
  SentSegment* ring = memory.segments.take(SegmentArena::order_of(mask + 1));
  for (std::uint64_t i = flight_->head; i != flight_->tail; ++i) ring[i & mask] = at(i);
  if (flight_->ring != flight_->own)
    memory.segments.give_back(flight_->ring, order_of_ring(*flight_));
  flight_->ring = ring;
  flight_->mask = mask;
}

void Scoreboard::release(TransportMemory& memory) noexcept {
  if (flight_ == nullptr) return;
  if (flight_->ring != flight_->own)
    memory.segments.give_back(flight_->ring, order_of_ring(*flight_));
  memory.flights.give_back(flight_);
  flight_ = nullptr;
  pipe_ = 0;
  lost_pending_ = 0;
}

void Scoreboard::forget(SentSegment& s) noexcept {
  if (in_pipe(s)) {
    assert(pipe_ >= s.length);
    pipe_ -= s.length;
  } else if (!s.sacked) {
    assert(lost_pending_ > 0);
    --lost_pending_;
  }
}

Scoreboard::Acknowledged Scoreboard::acknowledge(std::uint64_t una) noexcept {
  Acknowledged result;
  if (flight_ == nullptr) return result;
  bool resent = false;
  while (flight_->head != flight_->tail) {
    SentSegment& s = at(flight_->head);
    if (s.offset >= una) break;
    if (s.offset + s.length > una) {  // una is within a segment: keep the rest
      const auto part = static_cast<std::uint32_t>(una - s.offset);
      if (!s.sacked) result.bytes += part;
      if (in_pipe(s)) pipe_ -= part;
      s.offset = una;
      s.length -= part;
      break;
    }
    if (!s.sacked) {
      result.bytes += s.length;
      if (!result.sent_at) result.sent_at = Time{Duration{s.sent_ns}};
    }
    resent |= s.ever_resent;
    if (s.sacked) --flight_->sacked;
    else if (flight_->by_time) flight_->rack.on_arrived(s, Rack::Arrival::kCumulative);
    forget(s);
    ++flight_->head;
  }
  // Karn (RFC 6298, 3): resent data give no sample. Data above a filled hole had arrived long
  // before.
  if (resent) result.sent_at.reset();
  flight_->loss_edge = std::max(flight_->loss_edge, flight_->head);
  flight_->resend_from = std::max(flight_->resend_from, flight_->head);
  return result;
}

std::uint64_t Scoreboard::find(std::uint64_t offset) const noexcept {
  std::uint64_t low = flight_->head;
  std::uint64_t high = flight_->tail;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (at(middle).offset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

void Scoreboard::note_highest(std::uint64_t index) noexcept {
  std::uint64_t candidate = index + 1;
  for (std::uint64_t& h : flight_->highest) {
    if (candidate > h) std::swap(candidate, h);
  }
}

std::uint32_t Scoreboard::sack_new(std::uint64_t begin, std::uint64_t end) noexcept {
  std::uint32_t bytes = 0;
  for (std::uint64_t i = find(begin); i != flight_->tail; ++i) {
    SentSegment& s = at(i);
    if (s.offset + s.length > end) break;
    if (s.sacked) continue;
    if (flight_->by_time) flight_->rack.on_arrived(s, Rack::Arrival::kSelective);
    forget(s);
    ++flight_->sacked;
    bytes += s.length;
    s.sacked = true;
    s.lost = s.resent = false;
    note_highest(i);
  }
  return bytes;
}

std::uint32_t Scoreboard::sack(std::uint64_t begin, std::uint64_t end) noexcept {
  assert(begin < end);
  if (flight_ == nullptr) return 0;
  for (Flight::Range& seen : flight_->seen) {
    if (seen.begin > begin || begin >= seen.end) continue;
    if (end <= seen.end) return 0;  // nothing new
    // The block grew upwards, as it does while data above a hole arrives. Its last known end may
    // lie within a segment, which find() would skip.
    const std::uint64_t known = seen.end;
    seen.end = end;
    const std::uint64_t i = find(known);
    const bool within = i != flight_->head && at(i - 1).offset + at(i - 1).length > known;
    return sack_new(within ? at(i - 1).offset : known, end);
  }
  flight_->seen[flight_->seen_next++ % flight_->seen.size()] = {begin, end};
  return sack_new(begin, end);
}

void Scoreboard::detect_losses() noexcept {
  if (flight_ == nullptr) return;
  const std::uint64_t third = flight_->highest.back();
  if (third == 0) return;
  for (const std::uint64_t edge = third - 1; flight_->loss_edge < edge; ++flight_->loss_edge) {
    SentSegment& s = at(flight_->loss_edge);
    if (!s.sacked && !s.lost) lose(s);
  }
}

/// @pre in the pipe
void Scoreboard::lose(SentSegment& s) noexcept {
  assert(in_pipe(s));
  pipe_ -= s.length;
  s.lost = true;
  s.resent = false;
  ++lost_pending_;
  ++flight_->losses;
}

std::uint32_t Scoreboard::put_departed_back() noexcept {
  if (flight_ == nullptr) return 0;
  pipe_ += flight_->departed;
  return std::exchange(flight_->departed, 0);
}

void Scoreboard::take_departed(std::uint32_t bytes) noexcept {
  assert(!empty() && flight_->departed == 0);
  flight_->departed = std::min(bytes, pipe_);
  pipe_ -= flight_->departed;
}

void Scoreboard::lose_head() noexcept {
  assert(!empty() && flight_->departed == 0 && !head_lost());
  lose(at(flight_->head));
  flight_->resend_from = flight_->head;
}

/// Segments that were sent once left in the order of their offsets. All below loss_edge are SACKed
/// or lost, so the search ends at the first one that still has time.
Scoreboard::TimedLosses Scoreboard::detect_losses_by_time(Time now, Duration window) noexcept {
  if (empty()) return {};
  Flight& f = *flight_;
  TimedLosses found = detect_lost_resends(now, window);
  for (; f.loss_edge != f.tail; ++f.loss_edge) {
    SentSegment& s = at(f.loss_edge);
    if (s.sacked || s.lost) continue;
    if (!f.rack.overtaken(s)) break;
    if (f.rack.lost_at(s, window) > now) {
      found.waiting = true;
      break;
    }
    lose(s);
    f.resend_from = std::min(f.resend_from, f.loss_edge);
  }
  return found;
}

/// Retransmissions leave in the order of their offsets too, until one of them is resent again.
Scoreboard::TimedLosses Scoreboard::detect_lost_resends(Time now, Duration window) noexcept {
  Flight& f = *flight_;
  TimedLosses found;
  f.resent_first = std::max(f.resent_first, f.head);
  while (f.resent_first < f.resent_end && !at(f.resent_first).resent) ++f.resent_first;
  for (std::uint64_t i = f.resent_first; i < f.resent_end; ++i) {
    SentSegment& s = at(i);
    if (!s.resent) continue;
    const bool overtaken = f.rack.overtaken(s);
    if (overtaken && f.rack.lost_at(s, window) <= now) {
      found.resent_ns = std::max(found.resent_ns, s.sent_ns);
      lose(s);
      f.resend_from = std::min(f.resend_from, i);
      continue;
    }
    found.waiting |= overtaken;
    if (f.resent_in_order) break;
  }
  return found;
}

void Scoreboard::note_resent(std::uint64_t index) noexcept {
  Flight& f = *flight_;
  if (f.resent_first >= f.resent_end) {
    f.resent_first = f.resent_end = index;
    f.resent_in_order = true;
  }
  if (index < f.resent_end) f.resent_in_order = false;
  f.resent_first = std::min(f.resent_first, index);
  f.resent_end = std::max(f.resent_end, index + 1);
}

/// Handles a peer that dropped data which it had SACKed (RFC 2018, 8).
bool Scoreboard::forget_reneged() noexcept {
  if (empty() || !at(flight_->head).sacked) return false;
  flight_->highest = {};
  flight_->seen = {};
  flight_->sacked = 0;
  return true;
}

void Scoreboard::mark_all_lost() noexcept {
  if (flight_ == nullptr) return;
  const bool reneged = forget_reneged();
  lost_pending_ = 0;
  for (std::uint64_t i = flight_->head; i != flight_->tail; ++i) {
    SentSegment& s = at(i);
    if (reneged) s.sacked = false;
    s.lost = !s.sacked;
    s.resent = false;
    lost_pending_ += s.lost ? 1 : 0;
  }
  pipe_ = 0;
  flight_->departed = 0;
  flight_->loss_edge = flight_->tail;
  flight_->resend_from = flight_->head;
}

void Scoreboard::mark_lost_by_age(Time now, Duration age) noexcept {
  if (flight_ == nullptr) return;
  const bool reneged = forget_reneged();
  for (std::uint64_t i = flight_->head; i != flight_->tail; ++i) {
    SentSegment& s = at(i);
    if (reneged && s.sacked) {
      s.sacked = false;
      pipe_ += s.length;
    }
    if (!in_pipe(s)) continue;
    if (i == flight_->head || Time{Duration{s.sent_ns}} + age <= now) lose(s);
  }
  flight_->loss_edge = flight_->resend_from = flight_->head;
}

const SentSegment& Scoreboard::resend(Time now) noexcept {
  assert(lost_pending_ > 0);
  while (!at(flight_->resend_from).lost || at(flight_->resend_from).resent) {
    ++flight_->resend_from;
    assert(flight_->resend_from < flight_->tail);
  }
  if (flight_->by_time) note_resent(flight_->resend_from);
  SentSegment& s = at(flight_->resend_from++);
  s.resent = true;
  s.ever_resent = true;
  s.sent_ns = now.time_since_epoch().count();
  --lost_pending_;
  pipe_ += s.length;
  return s;
}

/// The segment does not count as lost: it stays in the pipe, once.
const SentSegment& Scoreboard::resend_last(Time now) noexcept {
  assert(!empty());
  SentSegment& s = at(flight_->tail - 1);
  s.ever_resent = true;
  s.sent_ns = now.time_since_epoch().count();
  return s;
}

}  // namespace outrider::tg
