#include "trafficgen/transport/sender/scoreboard.h"

#include <algorithm>
#include <utility>

namespace outrider::tg {

namespace {

bool in_pipe(const SentSegment& s) noexcept { return !s.sacked && (!s.lost || s.resent); }

void note_highest(Flight& flight, std::uint64_t index) noexcept {
  std::uint64_t candidate = index + 1;
  for (std::uint64_t& h : flight.highest) {
    if (candidate > h) std::swap(candidate, h);
  }
}

void note_resent(Flight& f, std::uint64_t index) noexcept {
  if (f.resent_first >= f.resent_end) {
    f.resent_first = f.resent_end = index;
    f.resent_in_order = true;
  }
  if (index < f.resent_end) f.resent_in_order = false;
  f.resent_first = std::min(f.resent_first, index);
  f.resent_end = std::max(f.resent_end, index + 1);
}

/// Handles a peer that dropped data which it had SACKed (RFC 2018, 8).
bool forget_reneged(SegmentRing& ring) noexcept {
  if (ring.empty() || !ring.oldest().sacked) return false;
  Flight& flight = *ring.flight();
  flight.highest = {};
  flight.seen = {};
  flight.sacked = 0;
  return true;
}

}  // namespace

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
  if (flight() == nullptr) return result;
  Flight& f = *flight();
  bool resent = false;
  while (f.head != f.tail) {
    SentSegment& s = ring_[f.head];
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
    if (s.sacked) --f.sacked;
    else if (f.by_time) f.rack.on_arrived(s, Rack::Arrival::kCumulative);
    forget(s);
    ++f.head;
  }
  // Karn (RFC 6298, 3): resent data give no sample. Data above a filled hole had arrived long
  // before.
  if (resent) result.sent_at.reset();
  f.loss_edge = std::max(f.loss_edge, f.head);
  f.resend_from = std::max(f.resend_from, f.head);
  return result;
}

std::uint32_t Scoreboard::sack_new(std::uint64_t begin, std::uint64_t end) noexcept {
  Flight& f = *flight();
  std::uint32_t bytes = 0;
  for (std::uint64_t i = ring_.find(begin); i != f.tail; ++i) {
    SentSegment& s = ring_[i];
    if (s.offset + s.length > end) break;
    if (s.sacked) continue;
    if (f.by_time) f.rack.on_arrived(s, Rack::Arrival::kSelective);
    forget(s);
    ++f.sacked;
    bytes += s.length;
    s.sacked = true;
    s.lost = s.resent = false;
    note_highest(f, i);
  }
  return bytes;
}

std::uint32_t Scoreboard::sack(std::uint64_t begin, std::uint64_t end) noexcept {
  assert(begin < end);
  if (flight() == nullptr) return 0;
  Flight& f = *flight();
  for (Flight::Range& seen : f.seen) {
    if (seen.begin > begin || begin >= seen.end) continue;
    if (end <= seen.end) return 0;  // nothing new
    // The block grew upwards, as it does while data above a hole arrives. Its last known end may
    // lie within a segment, which find() would skip.
    const std::uint64_t known = seen.end;
    seen.end = end;
    const std::uint64_t i = ring_.find(known);
    const bool within = i != f.head && ring_[i - 1].offset + ring_[i - 1].length > known;
    return sack_new(within ? ring_[i - 1].offset : known, end);
  }
  f.seen[f.seen_next++ % f.seen.size()] = {begin, end};
  return sack_new(begin, end);
}

void Scoreboard::detect_losses() noexcept {
  if (flight() == nullptr) return;
  Flight& f = *flight();
  const std::uint64_t third = f.highest.back();
  if (third == 0) return;
  for (const std::uint64_t edge = third - 1; f.loss_edge < edge; ++f.loss_edge) {
    SentSegment& s = ring_[f.loss_edge];
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
  ++flight()->losses;
}

std::uint32_t Scoreboard::put_departed_back() noexcept {
  if (flight() == nullptr) return 0;
  Flight& f = *flight();
  pipe_ += f.departed;
  return std::exchange(f.departed, 0);
}

void Scoreboard::take_departed(std::uint32_t bytes) noexcept {
  assert(!empty() && flight()->departed == 0);
  Flight& f = *flight();
  f.departed = std::min(bytes, pipe_);
  pipe_ -= f.departed;
}

void Scoreboard::lose_head() noexcept {
  assert(!empty() && flight()->departed == 0 && !head_lost());
  Flight& f = *flight();
  lose(ring_[f.head]);
  f.resend_from = f.head;
}

/// Segments that were sent once left in the order of their offsets. All below loss_edge are SACKed
/// or lost, so the search ends at the first one that still has time.
Scoreboard::TimedLosses Scoreboard::detect_losses_by_time(Time now, Duration window) noexcept {
  if (empty()) return {};
  Flight& f = *flight();
  TimedLosses found = detect_lost_resends(now, window);
  for (; f.loss_edge != f.tail; ++f.loss_edge) {
    SentSegment& s = ring_[f.loss_edge];
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
  Flight& f = *flight();
  TimedLosses found;
  f.resent_first = std::max(f.resent_first, f.head);
  while (f.resent_first < f.resent_end && !ring_[f.resent_first].resent) ++f.resent_first;
  for (std::uint64_t i = f.resent_first; i < f.resent_end; ++i) {
    SentSegment& s = ring_[i];
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

void Scoreboard::mark_all_lost() noexcept {
  if (flight() == nullptr) return;
  Flight& f = *flight();
  const bool reneged = forget_reneged(ring_);
  lost_pending_ = 0;
  for (std::uint64_t i = f.head; i != f.tail; ++i) {
    SentSegment& s = ring_[i];
    if (reneged) s.sacked = false;
    s.lost = !s.sacked;
    s.resent = false;
    lost_pending_ += s.lost ? 1 : 0;
  }
  pipe_ = 0;
  f.departed = 0;
  f.loss_edge = f.tail;
  f.resend_from = f.head;
}

void Scoreboard::mark_lost_by_age(Time now, Duration age) noexcept {
  if (flight() == nullptr) return;
  Flight& f = *flight();
  const bool reneged = forget_reneged(ring_);
  for (std::uint64_t i = f.head; i != f.tail; ++i) {
    SentSegment& s = ring_[i];
    if (reneged && s.sacked) {
      s.sacked = false;
      pipe_ += s.length;
    }
    if (!in_pipe(s)) continue;
    if (i == f.head || Time{Duration{s.sent_ns}} + age <= now) lose(s);
  }
  f.loss_edge = f.resend_from = f.head;
}

const SentSegment& Scoreboard::resend(Time now) noexcept {
  assert(lost_pending_ > 0);
  Flight& f = *flight();
  while (!ring_[f.resend_from].lost || ring_[f.resend_from].resent) {
    ++f.resend_from;
    assert(f.resend_from < f.tail);
  }
  if (f.by_time) note_resent(f, f.resend_from);
  SentSegment& s = ring_[f.resend_from++];
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
  SentSegment& s = ring_[flight()->tail - 1];
  s.ever_resent = true;
  s.sent_ns = now.time_since_epoch().count();
  return s;
}

}  // namespace outrider::tg
