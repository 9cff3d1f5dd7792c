#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "common/core/clock.h"
#include "common/core/indexed_heap.h"
#include "switch/regulation/regulator/regulator_entry.h"

namespace outrider {

/// Orders the live entries of a regulator by what happens to them next, and those that have begun
/// by their end too. What is recorded of an entry may be earlier than what happens to it, because
/// payload that puts an end off moves nothing here: the caller looks when the recorded instant
/// comes. It is never later.
///
/// All operations but last() are O(log slots). Allocates only at construction. Not thread-safe.
class EntryTimes {
 public:
  using Event = RegulatorEntry::Event;

  /// @param slots > 0
  explicit EntryTimes(std::uint32_t slots) : events_(slots), ends_(slots) {}

  [[nodiscard]] bool has(std::uint32_t slot) const noexcept { return events_.contains(slot); }
  /// Returns when the next event may be due; kNever if there is no entry.
  [[nodiscard]] Time next() const noexcept {
    return events_.empty() ? kNever : events_.top_key().at;
  }
  /// Returns whether an event may be due by `now`.
  [[nodiscard]] bool due(Time now) const noexcept {
    return !events_.empty() && events_.top_key().at <= now;
  }
  /// Returns the entry whose event comes next. @pre there is an entry
  [[nodiscard]] std::uint32_t first() const noexcept { return events_.top(); }
  /// Returns what is recorded of an entry. @pre has(slot)
  [[nodiscard]] const Event& recorded(std::uint32_t slot) const noexcept {
    return events_.key_of(slot);
  }

  /// @pre !has(slot)
  void add(std::uint32_t slot, const Event& next) noexcept { events_.push(slot, next); }
  /// The entry has begun. @pre has(slot)
  void begin(std::uint32_t slot, const Event& end) noexcept {
    assert(!end.begins);
    events_.change(slot, end);
    ends_.push(slot, end.at);
  }
  /// Records another event of an entry. @pre has(slot)
  void change(std::uint32_t slot, const Event& next) noexcept {
    events_.change(slot, next);
    if (ends_.contains(slot)) ends_.change(slot, next.at);
  }
  /// @pre has(slot)
  void remove(std::uint32_t slot) noexcept {
    events_.remove(slot);
    if (ends_.contains(slot)) ends_.remove(slot);
  }

  /// Leaves an entry out of last() if it begins only to end by `now`.
  void leave_out(std::uint32_t slot, Time now) noexcept {
    if (ends_.contains(slot) && ends_.key_of(slot) <= now) ends_.remove(slot);
  }
  /// Returns the entry that ends last of those that have begun, as far as is known, if its end is
  /// not due by `now`; else kNone. Entries that are found to be due are left out from then on, at
  /// most `most` a call. @param end_of  returns when the entry in a slot ends
  template <class EndOf>
  [[nodiscard]] std::uint32_t last(std::uint32_t most, Time now, EndOf&& end_of) noexcept {
    for (; !ends_.empty(); --most) {
      const std::uint32_t slot = ends_.top();
      if (end_of(slot) > now) return slot;
      if (most == 0) break;
      ends_.remove(slot);
    }
    return kNone;
  }
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;  ///< no slot

  /// Returns the levels that entries have moved so far: for tests of what an operation costs.
  [[nodiscard]] std::uint64_t steps() const noexcept { return events_.steps() + ends_.steps(); }
  /// Memory of an entry.
  static constexpr std::size_t bytes_per_slot() noexcept {
    return IndexedHeap<Event>::bytes_per_slot() + IndexedHeap<Time>::bytes_per_slot();
  }

 private:
  IndexedHeap<Event> events_;  ///< live entries by their next event, or an instant before it
  /// Entries that have begun, the last to end first, by their end or an instant before it. One
  /// whose end was found to be due may be missing.
  IndexedHeap<Time, std::greater<>> ends_;
};

}  // namespace outrider
