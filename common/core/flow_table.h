#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/flow_key.h"

namespace outrider {

/// Hash table from FlowKey to T with a bounded number of entries: open addressing, linear
/// probing, at most half full. Deletion shifts entries back, so no tombstones pile up. One
/// byte of each slot's hash is kept apart from the slots: a search for an absent flow, as a
/// switch makes it for most packets, reads only these bytes. Memory is taken only at
/// construction and in grow(). insert() refuses beyond the limit, and the caller decides
/// what that means. Not thread-safe.
///
/// Strangers choose the keys, so the hash has a secret, see HashKey. Somebody who does not know
/// it fills a table as evenly as chance does: in a full table of 131,072 entries a search reads
/// 1.5 slots on average and some 40 for the worst key. Probes have no other bound. One would
/// have insert() refuse entries while there is room, and that would cost more than a search.
///
/// A pointer to a value stays valid until the next insert(), erase() or grow().
template <class T>
class FlowTable {
 public:
  /// @param max_entries > 0
  explicit FlowTable(std::uint32_t max_entries)
      : max_entries_(max_entries),
        slots_(std::bit_ceil(std::size_t{2} * max_entries)),
        tags_(slots_.size()),
        mask_(slots_.size() - 1) {
    assert(max_entries > 0);
  }

  /// Inline, so that a key that is made for the search need not be in memory.
  [[nodiscard, gnu::always_inline]] T* find(const FlowKey& key) noexcept {
    const std::uint64_t hash = hash_of(key);
    const std::uint8_t tag = tag_of(hash);
    for (std::size_t i = hash & mask_;; i = next(i)) {
      if (tags_[i] == kFree) return nullptr;
      if (tags_[i] == tag && slots_[i].key == key) return &slots_[i].value;
    }
  }
  [[nodiscard, gnu::always_inline]] const T* find(const FlowKey& key) const noexcept {
    return const_cast<FlowTable*>(this)->find(key);
  }

  /// Prefetches what find(key) reads first.
  void prefetch(const FlowKey& key) const noexcept {
    const std::size_t home = home_of(key);
    __builtin_prefetch(&tags_[home]);
    __builtin_prefetch(&slots_[home]);
  }

  /// @pre find(key) == nullptr. @return nullptr if max_entries are in use
  T* insert(const FlowKey& key, T value) noexcept {
    if (size_ == max_entries_) return nullptr;
    std::size_t i = home_of(key);
    while (tags_[i] != kFree) {
      assert(slots_[i].key != key);
      i = next(i);
    }
    slots_[i] = {key, std::move(value)};
    tags_[i] = tag_of(hash_of(key));
    ++size_;
    return &slots_[i].value;
  }

  /// @return false if the key was not in the table
  bool erase(const FlowKey& key) noexcept {
    std::size_t hole = home_of(key);
    while (tags_[hole] != kFree && slots_[hole].key != key) hole = next(hole);
    if (tags_[hole] == kFree) return false;
    // Move back every later entry of the run that may live in the hole.
    for (std::size_t i = next(hole); tags_[i] != kFree; i = next(i)) {
      const std::size_t home = home_of(slots_[i].key);
      const bool reachable = ((i - home) & mask_) >= ((i - hole) & mask_);
      if (reachable) {
        slots_[hole] = std::move(slots_[i]);
        tags_[hole] = tags_[i];
        hole = i;
      }
    }
    slots_[hole] = {};
    tags_[hole] = kFree;
    --size_;
    return true;
  }

  /// Doubles the limit, and allocates memory for it.
  void grow() {
    FlowTable bigger(2 * max_entries_);
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (tags_[i] != kFree) bigger.insert(slots_[i].key, std::move(slots_[i].value));
    *this = std::move(bigger);
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] bool full() const noexcept { return size_ == max_entries_; }
  [[nodiscard]] std::uint32_t max_entries() const noexcept { return max_entries_; }

  /// Returns how many slots a search for the key reads, found or not.
  [[nodiscard]] std::size_t probes(const FlowKey& key) const noexcept {
    std::size_t i = home_of(key);
    while (tags_[i] != kFree && slots_[i].key != key) i = next(i);
    return ((i - home_of(key)) & mask_) + 1;
  }

  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (tags_[i] != kFree) f(slots_[i].key, slots_[i].value);
  }

 private:
  struct Slot {
    FlowKey key{};
    T value{};
  };
  static constexpr std::uint8_t kFree = 0;
  /// Returns a tag of hash bits that do not determine the home slot.
  static std::uint8_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint8_t>((hash >> 56) | 1);
  }
  [[nodiscard]] std::size_t home_of(const FlowKey& k) const noexcept { return hash_of(k) & mask_; }
  [[nodiscard]] std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask_; }

  std::uint32_t max_entries_;
  std::uint32_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint8_t> tags_;  ///< [slots_.size()]
  std::size_t mask_;
};

}  // namespace outrider
