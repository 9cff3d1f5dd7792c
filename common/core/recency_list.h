#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

namespace outrider {

/// Orders slots 0 to slots - 1 of a table by their last use, so that the least recently used can
/// be evicted. A slot is in the list or not. All operations are O(1). Allocates only at
/// construction. Not thread-safe.
class RecencyList {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  /// Begins empty. @param slots > 0, < kNone
  explicit RecencyList(std::uint32_t slots) : links_(slots) { assert(slots > 0 && slots < kNone); }

  /// Adds a slot as the most recently used. @pre !contains(slot)
  void add(std::uint32_t slot) noexcept {
    assert(!contains(slot));
    links_[slot] = {.older = newest_, .newer = kNone, .listed = true};
    (newest_ == kNone ? oldest_ : links_[newest_].newer) = slot;
    newest_ = slot;
  }

  /// @pre contains(slot)
  void remove(std::uint32_t slot) noexcept {
    assert(contains(slot));
    const Link gone = links_[slot];
    (gone.older == kNone ? oldest_ : links_[gone.older].newer) = gone.newer;
    (gone.newer == kNone ? newest_ : links_[gone.newer].older) = gone.older;
    links_[slot] = {};
  }

  /// Makes a slot the most recently used. @pre contains(slot)
  void touch(std::uint32_t slot) noexcept {
    if (slot == newest_) return;
    remove(slot);
    add(slot);
  }

  [[nodiscard]] bool contains(std::uint32_t slot) const noexcept { return links_[slot].listed; }
  /// Returns the least recently used slot, or kNone if the list is empty.
  [[nodiscard]] std::uint32_t oldest() const noexcept { return oldest_; }

  /// Memory of a slot.
  static constexpr std::size_t bytes_per_slot() noexcept { return sizeof(Link); }

 private:
  struct Link {
    std::uint32_t older = kNone;
    std::uint32_t newer = kNone;
    bool listed = false;
  };

  std::vector<Link> links_;
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
};

}  // namespace outrider
