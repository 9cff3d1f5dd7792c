#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <vector>

namespace outrider {

/// Orders slots of a table by a key, so that the slot whose key comes first is at hand, and any
/// slot can get another key or leave. A slot is in the heap or not. Slots with equal keys are in
/// no order.
///
/// A binary heap: push(), change() and remove() move at most log2(size) + 1 levels, everything
/// else is O(1). Allocates only at construction. Not thread-safe.
/// @tparam Before  strict weak order of keys: what comes first
template <class Key, class Before = std::less<Key>>
class IndexedHeap {
 public:
  /// Begins empty. @param slots > 0, < kNone
  explicit IndexedHeap(std::uint32_t slots) : places_(slots, kNone) {
    assert(slots > 0 && slots < kNone);
    heap_.reserve(slots);
  }

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] bool contains(std::uint32_t slot) const noexcept { return places_[slot] != kNone; }
  /// Returns the slot whose key comes first. @pre !empty()
  [[nodiscard]] std::uint32_t top() const noexcept { return heap_.front().slot; }
  [[nodiscard]] const Key& top_key() const noexcept { return heap_.front().key; }
  /// @pre contains(slot)
  [[nodiscard]] const Key& key_of(std::uint32_t slot) const noexcept {
    assert(contains(slot));
    return heap_[places_[slot]].key;
  }

  /// @pre !contains(slot)
  void push(std::uint32_t slot, const Key& key) noexcept {
    assert(!contains(slot));
    heap_.push_back({key, slot});
    rise(heap_.size() - 1, {key, slot});
  }
  /// Gives a slot another key. @pre contains(slot)
  void change(std::uint32_t slot, const Key& key) noexcept {
    assert(contains(slot));
    settle(places_[slot], {key, slot});
  }
  /// @pre contains(slot)
  void remove(std::uint32_t slot) noexcept {
    assert(contains(slot));
    const std::size_t hole = places_[slot];
    const Item last = heap_.back();
    heap_.pop_back();
    places_[slot] = kNone;
    if (last.slot != slot) settle(hole, last);
  }

  /// Returns the levels that slots have moved so far: for tests of what an operation costs.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  /// Memory of a slot.
  static constexpr std::size_t bytes_per_slot() noexcept {
    return sizeof(Item) + sizeof(std::uint32_t);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  struct Item {
    Key key{};
    std::uint32_t slot = 0;
  };

  void place(std::size_t at, const Item& item) noexcept {
    ++steps_;
    heap_[at] = item;
    places_[item.slot] = static_cast<std::uint32_t>(at);
  }
  void settle(std::size_t at, const Item& item) noexcept {
    if (at > 0 && Before{}(item.key, heap_[(at - 1) / 2].key)) rise(at, item);
    else sink(at, item);
  }
  void rise(std::size_t at, const Item& item) noexcept {
    for (; at > 0 && Before{}(item.key, heap_[(at - 1) / 2].key); at = (at - 1) / 2)
      place(at, heap_[(at - 1) / 2]);
    place(at, item);
  }
  void sink(std::size_t at, const Item& item) noexcept {
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && Before{}(heap_[child + 1].key, heap_[child].key)) ++child;
      if (!Before{}(heap_[child].key, item.key)) break;
      place(at, heap_[child]);
      at = child;
    }
    place(at, item);
  }

  std::vector<Item> heap_;
  std::vector<std::uint32_t> places_;  ///< slot -> position in heap_, or kNone
  std::uint64_t steps_ = 0;
};

}  // namespace outrider
