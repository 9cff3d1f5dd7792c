#include "trafficgen/transport/scoreboard.h"

#include <algorithm>
#include <bit>

namespace outrider {

Scoreboard::Scoreboard(std::uint32_t slots)
    : ring_(std::make_unique_for_overwrite<SentSegment[]>(slots)), mask_(slots - 1) {
  assert(std::has_single_bit(slots));
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
  bool resent = false;
  while (head_ != tail_) {
    SentSegment& s = at(head_);
    if (s.offset >= una) break;
    if (s.offset + s.length > una) {  // within a segment: keep its rest
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
    forget(s);
    ++head_;
  }
  // Karn (RFC 6298, 3). What lies behind a filled hole had arrived long before.
  if (resent) result.sent_at.reset();
  loss_edge_ = std::max(loss_edge_, head_);
  resend_from_ = std::max(resend_from_, head_);
  return result;
}

std::uint64_t Scoreboard::find(std::uint64_t offset) const noexcept {
  std::uint64_t low = head_;
  std::uint64_t high = tail_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (at(middle).offset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

void Scoreboard::note_highest(std::uint64_t index) noexcept {
  std::uint64_t candidate = index + 1;
  for (std::uint64_t& h : highest_) {
    if (candidate > h) std::swap(candidate, h);
  }
}

std::uint32_t Scoreboard::sack_new(std::uint64_t begin, std::uint64_t end) noexcept {
  std::uint32_t bytes = 0;
  for (std::uint64_t i = find(begin); i != tail_; ++i) {
    SentSegment& s = at(i);
    if (s.offset + s.length > end) break;
    if (s.sacked) continue;
    forget(s);
    bytes += s.length;
    s.sacked = true;
    s.lost = s.resent = false;
    note_highest(i);
  }
  return bytes;
}

std::uint32_t Scoreboard::sack(std::uint64_t begin, std::uint64_t end) noexcept {
  assert(begin < end);
  for (Range& seen : seen_) {
    if (seen.begin > begin || begin >= seen.end) continue;
    if (end <= seen.end) return 0;  // nothing new
    // The block grew upwards, as it does while data behind a hole arrives. Its
    // last known end may lie within a segment, which find() would pass over.
    const std::uint64_t known = seen.end;
    seen.end = end;
    const std::uint64_t i = find(known);
    const bool within = i != head_ && at(i - 1).offset + at(i - 1).length > known;
    return sack_new(within ? at(i - 1).offset : known, end);
  }
  seen_[seen_next_++ % seen_.size()] = {begin, end};
  return sack_new(begin, end);
}

void Scoreboard::detect_losses() noexcept {
  const std::uint64_t third = highest_.back();
  if (third == 0) return;
  for (const std::uint64_t edge = third - 1; loss_edge_ < edge; ++loss_edge_) {
    SentSegment& s = at(loss_edge_);
    if (s.sacked || s.lost) continue;
    pipe_ -= s.length;
    s.lost = true;
    ++lost_pending_;
  }
}

void Scoreboard::mark_all_lost() noexcept {
  const bool reneged = !empty() && at(head_).sacked;
  if (reneged) {
    highest_ = {};
    seen_ = {};
  }
  lost_pending_ = 0;
  for (std::uint64_t i = head_; i != tail_; ++i) {
    SentSegment& s = at(i);
    if (reneged) s.sacked = false;
    s.lost = !s.sacked;
    s.resent = false;
    lost_pending_ += s.lost ? 1 : 0;
  }
  pipe_ = 0;
  loss_edge_ = tail_;
  resend_from_ = head_;
}

const SentSegment& Scoreboard::resend(Time now) noexcept {
  assert(lost_pending_ > 0);
  while (!at(resend_from_).lost || at(resend_from_).resent) {
    ++resend_from_;
    assert(resend_from_ < tail_);
  }
  SentSegment& s = at(resend_from_++);
  s.resent = true;
  s.ever_resent = true;
  s.sent_ns = now.time_since_epoch().count();
  --lost_pending_;
  pipe_ += s.length;
  return s;
}

}  // namespace outrider
