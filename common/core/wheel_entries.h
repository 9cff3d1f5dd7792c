#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"

namespace outrider {

/// The entries of a TimingWheel, each with one instant, and the order (instant, id) of those that
/// are due. These are in a sorted list, into which what is scheduled late is put from its end. If
/// many entries are to fire after it, it goes into a heap that the list is merged with. The first
/// entry of all that are due is always that of the list.
///
/// Only add() and reserve() allocate. Not thread-safe.
class WheelEntries {
 public:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::uint32_t kDue = kNobody - 1;   ///< "slot" of the sorted list
  static constexpr std::uint32_t kLate = kNobody - 2;  ///< "slot" of the heap
  struct Entry {
    Time at = kNever;  ///< kNever: in no list
    std::uint32_t next = kNobody;
    std::uint32_t previous = kNobody;  ///< kNobody: first of its list; in the heap: position
    std::uint32_t slot = 0;            ///< of the wheel; kDue or kLate
  };
  struct Taken {
    std::uint32_t id = kNobody;  ///< kNobody: nothing is due
    Time at{};
  };

  void reserve(std::uint32_t entries) {
    entries_.reserve(entries);
    sorting_.reserve(entries);
    late_.reserve(entries);
  }
  std::uint32_t add() {
    entries_.emplace_back();
    sorting_.reserve(entries_.capacity());
    late_.reserve(entries_.capacity());
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] Entry& operator[](std::uint32_t id) noexcept { return entries_[id]; }
  [[nodiscard]] const Entry& operator[](std::uint32_t id) const noexcept { return entries_[id]; }
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const noexcept {
    return entries_[a].at != entries_[b].at ? entries_[a].at < entries_[b].at : a < b;
  }

  /// Returns the first entry that is due; kNobody: none is.
  [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
  /// Puts in an entry that is due. @pre it is in no list
  void insert(std::uint32_t id) noexcept;
  /// Makes two entries the sorted list. @pre nothing is due
  void insert_both(std::uint32_t first, std::uint32_t second) noexcept {
    assert(first_ == kNobody && before(first, second));
    Entry& a = entries_[first];
    Entry& b = entries_[second];
    a.slot = b.slot = kDue;
    a.previous = b.next = kNobody;
    a.next = second;
    b.previous = first;
    first_ = first;
    last_ = second;
  }
  /// Takes an entry out of its list. @pre it is due
  void unlink(const Entry& entry) noexcept;
  /// Removes and returns the first entry if it is at or before `end`. @pre something is due
  Taken take(Time end) noexcept;

  /// Puts in those of a slot, in any order: begin_slot(), collect() for each, insert_collected().
  /// @pre nothing is due
  void begin_slot() noexcept { sorting_.clear(); }
  void collect(std::uint32_t id) noexcept { sorting_.push_back(id); }
  void insert_collected() noexcept;

  /// See TimingWheel.
  [[nodiscard]] std::size_t known_ahead() const noexcept { return hints_; }
  [[nodiscard]] std::uint32_t soon(std::size_t ahead) const noexcept {
    return ahead < hints_ ? sorting_[sorting_.size() - hints_ + ahead] : kNobody;
  }

 private:
  static constexpr std::size_t kCrowd = 8;  ///< fewer that are due together give no hints
  static constexpr unsigned kWalk = 16;     ///< most entries of the sorted list that are passed

  void link(std::uint32_t id, std::uint32_t after) noexcept;
  void pass_hints(const Taken& taken) noexcept;
  void settle_late(std::uint32_t place, std::uint32_t id) noexcept;
  void remove_late(std::uint32_t place) noexcept;
  void merge_late() noexcept;

  std::uint32_t first_ = kNobody,
                last_ = kNobody;  ///< of the list; the first of all, late ones too
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> sorting_;  ///< the latest slot, sorted; room for all entries
  std::size_t hints_ = 0;               ///< entries of sorting_, its last ones, that are ahead
  std::vector<std::uint32_t> late_;     ///< binary heap of due entries that are not in the list
};

}  // namespace outrider
