#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trafficgen/policy/in_flight.h"
#include "trafficgen/policy/piece_heap.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Priority-based parameter propagation: sends partitions strictly by layer, one at a time, so that
/// a more urgent gradient waits for at most one partition.
///
/// Source: Jayarajan et al., "Priority-based Parameter Propagation for Distributed DNN
/// Training", MLSys 2019, section 4 (parameter slicing, priority queue, one consumer).
/// A partition ends when it is acknowledged; Peng et al., SOSP 2019, section 4.2, discuss this
/// stop-and-wait. Deviation: the authors' consumer makes a blocking call, which ends when the
/// operating system has taken the bytes and so depends on its buffers. Here the next partition
/// waits for the last one's acknowledgment.
class P3Policy final : public SendPolicy {
 public:
  /// @param pieces largest number in an iteration
  P3Policy(std::uint32_t targets, std::size_t pieces) : ready_(pieces), in_flight_(targets, 1) {}

  void begin(Time) noexcept override { ready_.clear(); }
  void on_ready(const GradientPiece& piece, bool, Time) noexcept override { ready_.push(piece); }
  void on_acknowledged(std::uint32_t target, std::uint64_t bytes, Time) noexcept override {
    in_flight_.acknowledge(target, bytes);
  }
  std::optional<PushSegment> next(Time now) noexcept override {
    if (ready_.empty() || !in_flight_.empty()) return std::nullopt;
    const GradientPiece piece = ready_.pop();
    in_flight_.add(piece.target, {.bytes = piece.bytes, .handed_out = now});
    return PushSegment{piece.target, piece.bytes, piece.index};
  }
  [[nodiscard]] bool needs_acknowledgments() const noexcept override { return true; }

 private:
  PieceHeap ready_;
  InFlight in_flight_;
};

}  // namespace outrider::tg
