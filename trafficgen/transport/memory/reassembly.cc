#include "trafficgen/transport/memory/reassembly.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace outrider::tg {

Reassembly::Result Reassembly::insert(std::uint64_t begin, std::uint64_t end) noexcept {
  assert(begin < end);
  std::size_t last = count_;  // one past the last interval that touches [begin, end)
  while (last > 0 && intervals_[last - 1].begin > end) --last;
  std::size_t first = last;
  while (first > 0 && intervals_[first - 1].end >= begin) --first;

  if (first == last) {
    if (count_ == kMaxIntervals) return Result::kRefused;
    std::move_backward(intervals_.begin() + static_cast<std::ptrdiff_t>(first),
                       intervals_.begin() + static_cast<std::ptrdiff_t>(count_),
                       intervals_.begin() + static_cast<std::ptrdiff_t>(count_ + 1));
    intervals_[first] = {begin, end, ++insertions_};
    ++count_;
    return Result::kStored;
  }
  Interval& merged = intervals_[first];
  const bool duplicate = last - first == 1 && merged.begin <= begin && end <= merged.end;
  merged = {std::min(begin, merged.begin), std::max(end, intervals_[last - 1].end), ++insertions_};
  std::move(intervals_.begin() + static_cast<std::ptrdiff_t>(last),
            intervals_.begin() + static_cast<std::ptrdiff_t>(count_),
            intervals_.begin() + static_cast<std::ptrdiff_t>(first + 1));
  count_ -= last - first - 1;
  return duplicate ? Result::kDuplicate : Result::kStored;
}

std::uint64_t Reassembly::take_in_order(std::uint64_t next) noexcept {
  std::size_t taken = 0;
  for (; taken < count_ && intervals_[taken].begin <= next; ++taken) {
    next = std::max(next, intervals_[taken].end);
  }
  if (taken != 0) {
    std::move(intervals_.begin() + static_cast<std::ptrdiff_t>(taken),
              intervals_.begin() + static_cast<std::ptrdiff_t>(count_), intervals_.begin());
    count_ -= taken;
  }
  return next;
}

std::size_t Reassembly::most_recent(std::array<Interval, 4>& out) const noexcept {
  std::size_t used = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    Interval candidate = intervals_[i];
    for (std::size_t place = 0; place < used; ++place) {
      if (candidate.touched > out[place].touched) std::swap(candidate, out[place]);
    }
    if (used < out.size()) out[used++] = candidate;
  }
  return used;
}

}  // namespace outrider::tg
