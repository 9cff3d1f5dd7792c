#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

namespace outrider {

/// Doubly linked lists over the slots 0 to slots - 1 of a table. Each slot is in one list at most,
/// and the owner knows in which. All operations are O(1). Allocates only at construction and in
/// grow(). Not thread-safe.
class SlotLinks {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  struct List {
    std::uint32_t oldest = kNone;
    std::uint32_t newest = kNone;
    [[nodiscard]] bool empty() const noexcept { return oldest == kNone; }
  };

  /// @param slots > 0, < kNone
  explicit SlotLinks(std::uint32_t slots) : links_(slots) { assert(slots > 0 && slots < kNone); }

  /// Adds slots until there are at least that many. Allocates. @param slots < kNone
  void grow(std::uint32_t slots) {
    assert(slots < kNone);
    if (slots > links_.size()) links_.resize(slots);
  }

  /// Adds a slot as the newest. @pre !listed(slot)
  void add(List& list, std::uint32_t slot) noexcept {
    assert(!listed(slot));
    links_[slot] = {.older = list.newest, .newer = kNone, .listed = true};
    (list.empty() ? list.oldest : links_[list.newest].newer) = slot;
    list.newest = slot;
  }
  /// @pre the slot is in that list
  void remove(List& list, std::uint32_t slot) noexcept {
    assert(listed(slot));
    const Link gone = links_[slot];
    (gone.older == kNone ? list.oldest : links_[gone.older].newer) = gone.newer;
    (gone.newer == kNone ? list.newest : links_[gone.newer].older) = gone.older;
    links_[slot] = {};
  }
  [[nodiscard]] bool listed(std::uint32_t slot) const noexcept { return links_[slot].listed; }

  /// Memory of a slot.
  static constexpr std::size_t bytes_per_slot() noexcept { return sizeof(Link); }

 private:
  struct Link {
    std::uint32_t older = kNone;
    std::uint32_t newer = kNone;
    bool listed = false;
  };
  std::vector<Link> links_;
};

/// Orders slots of a table by their last use, so that the least recently used can be evicted. A
/// slot is in the list or not. All operations are O(1). Allocates only at construction. Not
/// thread-safe.
class RecencyList {
 public:
  static constexpr std::uint32_t kNone = SlotLinks::kNone;

  /// Begins empty. @param slots > 0, < kNone
  explicit RecencyList(std::uint32_t slots) : links_(slots) {}

  /// Adds a slot as the most recently used. @pre !contains(slot)
  void add(std::uint32_t slot) noexcept { links_.add(list_, slot); }
  /// @pre contains(slot)
  void remove(std::uint32_t slot) noexcept { links_.remove(list_, slot); }
  /// Makes a slot the most recently used. @pre contains(slot)
  void touch(std::uint32_t slot) noexcept {
    if (slot == list_.newest) return;
    remove(slot);
    add(slot);
  }
  [[nodiscard]] bool contains(std::uint32_t slot) const noexcept { return links_.listed(slot); }
  /// Returns the least recently used slot, or kNone if the list is empty.
  [[nodiscard]] std::uint32_t oldest() const noexcept { return list_.oldest; }

 private:
  SlotLinks links_;
  SlotLinks::List list_{};
};

}  // namespace outrider
