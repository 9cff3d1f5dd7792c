#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/core/clock.h"

namespace outrider::tg {

/// A segment between its first transmission and its cumulative acknowledgment.
/// It has no default member values, so that memory is touched only when it is used.
struct SentSegment {
  std::uint64_t offset;  ///< stream offset
  std::int64_t sent_ns;  ///< first transmission, or the last one if resent
  std::uint32_t length;  ///< bytes of sequence space, a FIN counts one
  bool sacked;           ///< reported by SACK
  bool lost;             ///< taken for lost; implies !sacked
  bool resent;           ///< resent since it was taken for lost; implies lost
  bool ever_resent;      ///< no RTT sample (Karn)
};

/// Lends contiguous rings of 16 << order SentSegments. It is a buddy system, so that one reserve
/// serves many small flights or few large ones.
/// O(orders) per call, not thread-safe; nothing allocates after construction.
///
/// Source: Knuth, The Art of Computer Programming, volume 1, section 2.5,
/// algorithms R and S.
class SegmentArena {
 public:
  static constexpr std::uint32_t kUnitSegments = 16;  ///< smallest ring

  /// @param segments that can be lent in total, rounded up to whole units; the largest ring is the
  ///   largest power of two among them
  explicit SegmentArena(std::uint32_t segments);

  /// Returns the smallest order whose ring holds `segments`. @pre segments > 0
  [[nodiscard]] static unsigned order_of(std::uint32_t segments) noexcept {
    const std::uint32_t units = (segments + kUnitSegments - 1) / kUnitSegments;
    return static_cast<unsigned>(std::bit_width(units - 1));
  }

  [[nodiscard]] bool can_lend(unsigned order) const noexcept {
    return order < kOrders && (free_orders_ >> order) != 0;
  }
  /// @pre can_lend(order)
  [[nodiscard]] SentSegment* take(unsigned order) noexcept;
  /// @pre lent by take(order)
  void give_back(SentSegment* ring, unsigned order) noexcept;

  [[nodiscard]] std::uint64_t lent_segments() const noexcept {
    return std::uint64_t{lent_units_} * kUnitSegments;
  }
  [[nodiscard]] std::uint64_t segments() const noexcept {
    return std::uint64_t{kUnitSegments} * units_.size();
  }

 private:
  static constexpr unsigned kOrders = 27;  ///< bits of a unit's index
  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// State of a unit that begins a free block; meaningless inside a block.
  struct Unit {
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;
    std::uint8_t order = 0;
    bool free = false;
  };

  void add_free(std::uint32_t unit, unsigned order) noexcept;
  void remove_free(std::uint32_t unit) noexcept;

  std::unique_ptr<SentSegment[]> segments_;
  std::vector<Unit> units_;
  std::uint32_t heads_[kOrders];   ///< free blocks by order
  std::uint32_t free_orders_ = 0;  ///< bit k: there is a free block of order k
  std::uint32_t lent_units_ = 0;
};

}  // namespace outrider::tg
