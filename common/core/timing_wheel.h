#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/wheel_entries.h"

namespace outrider {

/// Holds entries with one instant each, and removes them in the order (instant, id). An entry
/// is in at most one list, so scheduling costs the same with two entries and with a million. A
/// slot of level 0 is 2^kSlotBits ns wide, and each level is 2^kLevelBits times coarser. A slot
/// that comes due is sorted, so the widths affect time and memory but never the order. What is
/// then scheduled within the same slot is put into the sorted list from its end, or, if many
/// entries are to fire after it, into a heap that the list is merged with.
///
/// After construction only add() and reserve() allocate. Not thread-safe. Takes about
/// (64 - kSlotBits) / kLevelBits * 2^kLevelBits * 4 bytes, and 32 bytes per entry.
///
/// Source: scheme 7 of Varghese and Lauck, "Hashed and Hierarchical Timing
/// Wheels" (1987). Deviation: due slots are sorted, the paper fires them unordered.
template <unsigned kSlotBits, unsigned kLevelBits>
class TimingWheel {
  static_assert(kSlotBits > 0 && kLevelBits >= 6 && kLevelBits <= 12);

 public:
  static constexpr std::uint32_t kNobody = WheelEntries::kNobody;
  using Taken = WheelEntries::Taken;

  TimingWheel() : heads_(std::size_t{kLevels} * kSlots, kNobody) {}

  /// Reserves room for `entries` entries in all; up to them add() does not allocate.
  void reserve(std::uint32_t entries) { entries_.reserve(entries); }
  /// @return id of a new entry: 0, 1, 2, ... in order of adding
  std::uint32_t add() { return entries_.add(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  /// Sets the instant of `id`; kNever removes it. @pre at >= Time{}
  [[gnu::always_inline]] void schedule(std::uint32_t id, Time at) noexcept {
    Entry& entry = entries_[id];
    if (entry.at == at) return;
    if (entry.at != kNever) unlink(entry);
    entry.at = at;
    if (at != kNever) insert(id);
  }

  [[nodiscard]] Time scheduled(std::uint32_t id) const noexcept { return entries_[id].at; }

  /// Returns the earliest instant; kNever if there is none. Searches one slot.
  [[nodiscard]] Time next() const noexcept {
    if (entries_.first() != kNobody) return entries_[entries_.first()].at;
    if (levels_used_ == 0) return kNever;
    Time earliest = kNever;
    std::uint32_t id = heads_[first_slot(static_cast<unsigned>(std::countr_zero(levels_used_)))];
    for (; id != kNobody; id = entries_[id].next) earliest = std::min(earliest, entries_[id].at);
    return earliest;
  }

  /// Returns an instant that is not after the earliest one: it may be the begin of a coarse
  /// slot, so that the call need not search its entries. The result is after `end` if
  /// take_next(end) found nothing and nothing was scheduled since.
  [[nodiscard]] Time next_bound() const noexcept {
    if (entries_.first() != kNobody || (levels_used_ & 1U) != 0) return next();
    if (levels_used_ == 0) return kNever;
    const auto level = static_cast<unsigned>(std::countr_zero(levels_used_));
    return Time{Duration{static_cast<std::int64_t>(begin_of(first_slot(level)) << kSlotBits)}};
  }
  /// Returns the id that take_next() returns next, if known without a search; else kNobody.
  [[nodiscard]] std::uint32_t first_due() const noexcept { return entries_.first(); }

  /// Returns for how many `ahead` soon() returns an id: 0 unless many entries are due together.
  [[nodiscard]] std::size_t known_ahead() const noexcept { return entries_.known_ahead(); }
  /// Returns the id that take_next() probably returns as the `ahead`-th from now, or kNobody: a
  /// hint.
  [[nodiscard]] std::uint32_t soon(std::size_t ahead) const noexcept {
    return entries_.soon(ahead);
  }

  /// Removes and returns the first entry if it is due at or before `end`.
  Taken take_next(Time end) noexcept;

 private:
  static constexpr std::uint32_t kSlots = 1U << kLevelBits;
  static constexpr unsigned kLevels = (64 - kSlotBits + kLevelBits - 1) / kLevelBits;

  using Entry = WheelEntries::Entry;
  /// Tells which slots of a level hold entries.
  struct Occupied {
    std::array<std::uint64_t, kSlots / 64> words{};
    std::uint64_t any = 0;  ///< bit i: words[i] != 0
  };

  static std::uint64_t tick_of(Time at) noexcept {
    return static_cast<std::uint64_t>(at.time_since_epoch().count()) >> kSlotBits;
  }
  /// @pre the level holds an entry
  [[nodiscard]] std::uint32_t first_slot(unsigned level) const noexcept {
    const Occupied& occupied = occupied_[level];
    const auto word = static_cast<std::uint32_t>(std::countr_zero(occupied.any));
    return level * kSlots + word * 64 +
           static_cast<std::uint32_t>(std::countr_zero(occupied.words[word]));
  }
  /// Returns the first tick of a slot in the current turn of its level.
  [[nodiscard]] std::uint64_t begin_of(std::uint32_t slot) const noexcept {
    const unsigned shift = slot / kSlots * kLevelBits;
    const std::uint64_t above = shift + kLevelBits < 64 ? tick_ >> (shift + kLevelBits) : 0;
    return (above << kLevelBits | slot % kSlots) << shift;
  }
  [[gnu::noinline]] Taken take_next_of_many(Time end) noexcept;
  void insert(std::uint32_t id) noexcept;
  [[gnu::noinline]] void insert_far(std::uint32_t id, std::uint64_t tick) noexcept;
  [[gnu::always_inline]] void put(std::uint32_t id, unsigned level, std::uint32_t place) noexcept;
  [[gnu::noinline]] void unlink(Entry& entry) noexcept;
  [[gnu::always_inline]] void empty_slot(unsigned level, std::uint32_t place) noexcept;
  void take_slot(std::uint32_t slot) noexcept;

  std::uint64_t tick_ = 0;         ///< the sorted list holds everything up to the end of this tick
  std::uint32_t levels_used_ = 0;  ///< bit l: level l holds an entry
  WheelEntries entries_;
  std::vector<std::uint32_t> heads_;  ///< [kLevels * kSlots] first of each slot's list
  std::array<Occupied, kLevels> occupied_{};
};

template <unsigned kSlotBits, unsigned kLevelBits>
inline void TimingWheel<kSlotBits, kLevelBits>::insert(std::uint32_t id) noexcept {
  Entry& entry = entries_[id];
  assert(entry.at >= Time{});
  const std::uint64_t tick = tick_of(entry.at);
  if (tick <= tick_) [[unlikely]]
    return entries_.insert(id);
  // The level is where the tick first differs from the current one. It mostly is the finest, for
  // which the compiler makes a shorter put().
  if ((tick ^ tick_) < kSlots) [[likely]]
    return put(id, 0, static_cast<std::uint32_t>(tick) & (kSlots - 1));
  insert_far(id, tick);
}

/// Inserts into a coarser level than the finest. @pre tick > tick_
template <unsigned kSlotBits, unsigned kLevelBits>
void TimingWheel<kSlotBits, kLevelBits>::insert_far(std::uint32_t id, std::uint64_t tick) noexcept {
  const unsigned level = (63U - static_cast<unsigned>(std::countl_zero(tick ^ tick_))) / kLevelBits;
  put(id, level, static_cast<std::uint32_t>(tick >> (level * kLevelBits)) & (kSlots - 1));
}

template <unsigned kSlotBits, unsigned kLevelBits>
inline void TimingWheel<kSlotBits, kLevelBits>::put(std::uint32_t id, unsigned level,
                                                    std::uint32_t place) noexcept {
  Entry& entry = entries_[id];
  entry.slot = level * kSlots + place;
  std::uint32_t& head = heads_[entry.slot];
  entry.previous = kNobody;
  entry.next = head;
  if (head != kNobody) entries_[head].previous = id;
  head = id;
  Occupied& occupied = occupied_[level];
  occupied.words[place / 64] |= std::uint64_t{1} << (place % 64);
  occupied.any |= std::uint64_t{1} << (place / 64);
  levels_used_ |= 1U << level;
}

template <unsigned kSlotBits, unsigned kLevelBits>
void TimingWheel<kSlotBits, kLevelBits>::unlink(Entry& entry) noexcept {
  if (entry.slot >= WheelEntries::kLate) return entries_.unlink(entry);
  if (entry.next != kNobody) entries_[entry.next].previous = entry.previous;
  if (entry.previous != kNobody) {
    entries_[entry.previous].next = entry.next;
    return;
  }
  heads_[entry.slot] = entry.next;
  if (entry.next == kNobody) empty_slot(entry.slot / kSlots, entry.slot % kSlots);
}

template <unsigned kSlotBits, unsigned kLevelBits>
inline void TimingWheel<kSlotBits, kLevelBits>::empty_slot(unsigned level,
                                                           std::uint32_t place) noexcept {
  heads_[level * kSlots + place] = kNobody;
  Occupied& occupied = occupied_[level];
  occupied.words[place / 64] &= ~(std::uint64_t{1} << (place % 64));
  if (occupied.words[place / 64] != 0) return;
  occupied.any &= ~(std::uint64_t{1} << (place / 64));
  if (occupied.any == 0) levels_used_ &= ~(1U << level);
}

/// Empties a slot whose begin is the current tick: due entries go to the sorted list, the
/// others to finer slots. @pre the sorted list is empty
template <unsigned kSlotBits, unsigned kLevelBits>
void TimingWheel<kSlotBits, kLevelBits>::take_slot(std::uint32_t slot) noexcept {
  std::uint32_t id = heads_[slot];
  empty_slot(slot / kSlots, slot % kSlots);
  // All entries of a finest slot are due. Two of them, as most such slots have, need no sorting.
  const std::uint32_t other = entries_[id].next;
  if (slot < kSlots && other != kNobody && entries_[other].next == kNobody) {
    return entries_.before(id, other) ? entries_.insert_both(id, other)
                                      : entries_.insert_both(other, id);
  }
  entries_.begin_slot();
  while (id != kNobody) {
    const std::uint32_t next = entries_[id].next;
    if (tick_of(entries_[id].at) <= tick_) entries_.collect(id);
    else insert(id);
    id = next;
  }
  entries_.insert_collected();
}

// Most slots of level 0 hold one entry, which needs no sorting: that case comes first, and short.
template <unsigned kSlotBits, unsigned kLevelBits>
inline auto TimingWheel<kSlotBits, kLevelBits>::take_next(Time end) noexcept -> Taken {
  if (entries_.first() != kNobody) return entries_.take(end);
  if ((levels_used_ & 1U) != 0) [[likely]] {
    const std::uint32_t slot = first_slot(0);
    const std::uint32_t id = heads_[slot];
    Entry& entry = entries_[id];
    if (entry.next == kNobody) [[likely]] {
      if (entry.at > end) return {};
      tick_ = (tick_ & ~std::uint64_t{kSlots - 1}) | slot;
      empty_slot(0, slot);
      return {id, std::exchange(entry.at, kNever)};
    }
  }
  return take_next_of_many(end);
}

template <unsigned kSlotBits, unsigned kLevelBits>
auto TimingWheel<kSlotBits, kLevelBits>::take_next_of_many(Time end) noexcept -> Taken {
  while (entries_.first() == kNobody) {
    if (levels_used_ == 0) return {};
    const std::uint32_t slot = first_slot(static_cast<unsigned>(std::countr_zero(levels_used_)));
    const std::uint64_t tick = begin_of(slot);
    if (tick > tick_of(end)) return {};
    tick_ = tick;
    take_slot(slot);
  }
  return entries_.take(end);
}

}  // namespace outrider
