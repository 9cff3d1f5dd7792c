#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace outrider::tg {

/// Keeps what has arrived beyond a hole, as disjoint, sorted, non-touching intervals of stream
/// offsets, at most kMaxIntervals of them.
///
/// O(intervals) per segment; the search begins at the end, where data usually arrives. Not
/// thread-safe; nothing allocates.
class Reassembly {
 public:
  static constexpr std::size_t kMaxIntervals = 64;
  struct Interval {
    std::uint64_t begin;
    std::uint64_t end;      ///< one past the last byte
    std::uint64_t touched;  ///< number of the last insertion that extended it
  };
  Reassembly() noexcept {}  // not = default: intervals are left untouched until used

  enum class Result : std::uint8_t { kStored, kDuplicate, kRefused };

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t intervals() const noexcept { return count_; }
  [[nodiscard]] const Interval& interval(std::size_t i) const noexcept { return intervals_[i]; }
  /// End of the highest interval. @pre !empty()
  [[nodiscard]] std::uint64_t highest() const noexcept { return intervals_[count_ - 1].end; }

  /// Adds [begin, end). kRefused: it would need an interval too many, and nothing changed.
  /// @pre begin < end
  Result insert(std::uint64_t begin, std::uint64_t end) noexcept;

  /// Drops what lies below `next`, because everything up to it has arrived in order.
  /// @return the offset up to which data is now in order, >= next
  std::uint64_t take_in_order(std::uint64_t next) noexcept;

  /// Writes the intervals in the order in which SACK reports them: the most recently extended first
  /// (RFC 2018, section 4).
  /// @param out [4], @return entries written
  std::size_t most_recent(std::array<Interval, 4>& out) const noexcept;

 private:
  std::size_t count_ = 0;
  std::uint64_t insertions_ = 0;
  std::array<Interval, kMaxIntervals> intervals_;
};

}  // namespace outrider::tg
