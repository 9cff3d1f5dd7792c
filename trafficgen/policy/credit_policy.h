#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "trafficgen/policy/in_flight.h"
#include "trafficgen/policy/piece_heap.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Credit-based preemption: sends partitions strictly by layer as long as the unacknowledged ones
/// fit into a credit. A small credit follows priorities closely, a large one fills the pipe.
///
/// Source: Peng et al., "A Generic Communication Scheduler for Distributed DNN Training
/// Acceleration" (ByteScheduler), SOSP 2019, section 4.2 and algorithm 1: a partition
/// leaves if the credit covers it, and gives it back when it is finished.
/// Deviation: finished means acknowledged by the transport.
class CreditPolicy final : public SendPolicy {
 public:
  /// @param pieces largest number in an iteration; none may be larger than the credit
  CreditPolicy(std::uint32_t targets, std::size_t pieces, std::uint64_t credit_bytes)
      : ready_(pieces), in_flight_(targets, pieces), credit_bytes_(credit_bytes) {}

  void begin(Time) noexcept override { ready_.clear(); }
  void on_ready(const GradientPiece& piece, bool, Time) noexcept override {
    assert(piece.bytes <= credit_bytes_);
    ready_.push(piece);
  }
  void on_acknowledged(std::uint32_t target, std::uint64_t bytes, Time) noexcept override {
    in_flight_.acknowledge(target, bytes);
  }
  std::optional<PushSegment> next(Time now) noexcept override {
    if (ready_.empty() || ready_.top().bytes > credit_bytes_ - in_flight_.charged_bytes())
      return std::nullopt;
    const GradientPiece piece = ready_.pop();
    in_flight_.add(piece.target, {piece.bytes, piece.bytes, now});
    return PushSegment{piece.target, piece.bytes, piece.index};
  }
  [[nodiscard]] bool needs_acknowledgments() const noexcept override { return true; }

 private:
  PieceHeap ready_;
  InFlight in_flight_;
  std::uint64_t credit_bytes_;
};

}  // namespace outrider::tg
