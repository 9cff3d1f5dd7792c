#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace outrider::tg {

/// How a packet's number relates to the earlier ones of its flow.
enum class Arrived : std::uint8_t {
  kInOrder,       ///< at or beyond the next expected number
  kReordered,     ///< below it, for the first time
  kDuplicate,     ///< a copy
  kBeyondWindow,  ///< so late that it may or may not be a copy
  kImplausible,   ///< so far ahead that the number must be wrong
};

/// Tracks which numbers of each flow have arrived, in bounded memory, 16 bytes per flow.
///
/// A packet is reordered if its number is below the next expected one, which is the largest seen +
/// 1. Its extent is the distance to the largest seen (RFC 4737, sections 3.3 and 4.2, with numbers
/// in place of positions; the two differ if packets are lost in between). The last 64 numbers
/// distinguish copies from late packets. A packet that is later than that counts neither as a
/// recovered loss nor as a copy (RFC 5236 bounds its displacement for the same reason).
///
/// Numbers wrap at 2^32. Not thread-safe (one lcore owns it).
class SequenceTracker {
 public:
  static constexpr std::uint32_t kWindow = 64;
  static constexpr std::uint32_t kMaxJump = 1U << 30;

  /// @param from_zero  a flow's first number is 0, so that numbers missing before the first arrival
  ///   were lost; false: the flow begins with its first arrival
  SequenceTracker(std::uint32_t flows, bool from_zero) : flows_(flows), from_zero_(from_zero) {}

  struct Verdict {
    Arrived arrived;
    std::uint32_t extent;   ///< kReordered: distance to the largest seen, >= 1
    std::uint32_t skipped;  ///< kInOrder: numbers skipped
    bool operator==(const Verdict&) const = default;
  };

  /// @pre flow < flows
  Verdict on_arrival(std::uint32_t flow, std::uint32_t sequence) noexcept {
    Flow& f = flows_[flow];
    if (f.seen == 0 && !from_zero_) f.next = sequence;
    const std::uint32_t ahead = sequence - f.next;
    if (ahead < kMaxJump) {
      f.seen = ahead + 1 < kWindow ? f.seen << (ahead + 1) | 1 : 1;
      f.next = sequence + 1;
      ++f.distinct;
      return {Arrived::kInOrder, 0, ahead};
    }
    if (ahead < kHalf || f.seen == 0) return {Arrived::kImplausible, 0, 0};
    const std::uint32_t behind = f.next - 1 - sequence;  // 0: the largest seen itself
    if (behind >= kWindow || before_first(f, behind)) return {Arrived::kBeyondWindow, 0, 0};
    const std::uint64_t bit = std::uint64_t{1} << behind;
    if ((f.seen & bit) != 0) return {Arrived::kDuplicate, 0, 0};
    f.seen |= bit;
    ++f.distinct;
    return {Arrived::kReordered, behind, 0};
  }

  /// Returns the number of different packets of a flow; wraps.
  [[nodiscard]] std::uint32_t distinct(std::uint32_t flow) const noexcept {
    return flows_[flow].distinct;
  }

 private:
  struct Flow {
    std::uint64_t seen = 0;      ///< bit i: number next - 1 - i has arrived
    std::uint32_t next = 0;      ///< next expected
    std::uint32_t distinct = 0;  ///< different numbers that have arrived
  };
  static_assert(sizeof(Flow) == 16);

  static constexpr std::uint32_t kHalf = 1U << 31;

  /// Returns true if the number is older than the flow's first arrival, where none is expected. If
  /// numbers were lost since, it may wrongly return true within the first 64 numbers of a flow
  /// whose sender is another process.
  [[nodiscard]] bool before_first(const Flow& f, std::uint32_t behind) const noexcept {
    return !from_zero_ && f.distinct <= behind;
  }

  std::vector<Flow> flows_;
  bool from_zero_;
};

}  // namespace outrider::tg
