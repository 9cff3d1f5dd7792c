#include "common/core/wheel_entries.h"

#include <algorithm>
#include <utility>

namespace outrider {

/// Inserts into the sorted list from its end, as entries scheduled late mostly fire late. Where
/// thousands act at one instant, as hosts that begin together, the list is too long to be passed.
void WheelEntries::insert(std::uint32_t id) noexcept {
  std::uint32_t after = last_;
  for (unsigned passed = 0; after != kNobody && before(id, after); ++passed) {
    if (passed < kWalk) {
      after = entries_[after].previous;
    } else if (before(id, first_)) {
      after = kNobody;
    } else {
      late_.push_back(id);  // reserved by add()
      entries_[id].slot = kLate;
      return settle_late(static_cast<std::uint32_t>(late_.size() - 1), id);
    }
  }
  link(id, after);
}

void WheelEntries::link(std::uint32_t id, std::uint32_t after) noexcept {
  Entry& entry = entries_[id];
  entry.slot = kDue;
  entry.previous = after;
  std::uint32_t& forward = after == kNobody ? first_ : entries_[after].next;
  entry.next = forward;
  forward = id;
  (entry.next == kNobody ? last_ : entries_[entry.next].previous) = id;
}

void WheelEntries::insert_collected() noexcept {
  assert(first_ == kNobody);
  std::ranges::sort(sorting_, [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
  for (const std::uint32_t due : sorting_) insert(due);
  hints_ = sorting_.size() < kCrowd ? 0 : sorting_.size();
}

/// Puts `id` where it belongs in the heap, from the free place `place` on, upwards or downwards.
void WheelEntries::settle_late(std::uint32_t place, std::uint32_t id) noexcept {
  const auto set = [this](std::uint32_t at, std::uint32_t who) {
    late_[at] = who;
    entries_[who].previous = at;
  };
  for (; place > 0 && before(id, late_[(place - 1) / 2]); place = (place - 1) / 2)
    set(place, late_[(place - 1) / 2]);
  const auto size = static_cast<std::uint32_t>(late_.size());
  for (std::uint32_t child = 2 * place + 1; child < size; child = 2 * place + 1) {
    if (child + 1 < size && before(late_[child + 1], late_[child])) ++child;
    if (before(id, late_[child])) break;
    set(place, late_[child]);
    place = child;
  }
  set(place, id);
}

void WheelEntries::remove_late(std::uint32_t place) noexcept {
  const std::uint32_t last = late_.back();
  late_.pop_back();
  if (place < late_.size()) settle_late(place, last);
}

/// Makes the first entry of all that of the list again.
void WheelEntries::merge_late() noexcept {
  const std::uint32_t top = late_.front();
  if (first_ != kNobody && before(first_, top)) return;
  remove_late(0);
  link(top, kNobody);
}

void WheelEntries::unlink(const Entry& entry) noexcept {
  if (entry.slot == kLate) return remove_late(entry.previous);
  (entry.next == kNobody ? last_ : entries_[entry.next].previous) = entry.previous;
  if (entry.previous != kNobody) {
    entries_[entry.previous].next = entry.next;
    return;
  }
  first_ = entry.next;
  if (!late_.empty()) merge_late();
}

/// Passes what has been taken, and what was moved away since the slot was sorted.
void WheelEntries::pass_hints(const Taken& taken) noexcept {
  const auto is_ahead = [&](std::uint32_t id) {
    const Entry& e = entries_[id];
    return e.at != kNever && e.slot == kDue && (e.at != taken.at ? e.at > taken.at : id > taken.id);
  };
  while (hints_ != 0 && !is_ahead(sorting_[sorting_.size() - hints_])) --hints_;
}

auto WheelEntries::take(Time end) noexcept -> Taken {
  const std::uint32_t id = first_;
  Entry& first = entries_[id];
  if (first.at > end) return {};
  first_ = first.next;
  (first.next == kNobody ? last_ : entries_[first.next].previous) = kNobody;
  if (!late_.empty()) [[unlikely]]
    merge_late();
  const Taken taken{id, std::exchange(first.at, kNever)};
  assert(first_ == kNobody || taken.at < entries_[first_].at ||
         (taken.at == entries_[first_].at && taken.id < first_));
  if (hints_ != 0) [[unlikely]]
    pass_hints(taken);
  return taken;
}

}  // namespace outrider
