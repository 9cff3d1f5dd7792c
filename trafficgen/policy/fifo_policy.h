#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trafficgen/core/fifo.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Sends the whole push after the backward pass, one segment per target in the order of targets.
class FifoPolicy final : public SendPolicy {
 public:
  explicit FifoPolicy(std::uint32_t targets) : ready_(targets, 0) {}

  void begin(Time) noexcept override {
    complete_ = false;
    next_ = 0;
    for (auto& bytes : ready_) bytes = 0;
  }
  void on_ready(const GradientPiece& piece, bool last, Time) noexcept override {
    ready_[piece.target] += piece.bytes;
    complete_ = complete_ || last;
  }
  std::optional<PushSegment> next(Time) noexcept override {
    if (!complete_ || next_ == ready_.size()) return std::nullopt;
    const std::uint32_t target = next_++;
    return PushSegment{target, ready_[target]};
  }

 private:
  std::vector<std::uint64_t> ready_;  ///< [targets], bytes
  std::uint32_t next_ = 0;
  bool complete_ = false;
};

/// Sends the push in the same order as FifoPolicy, but piece by piece, because servers that answer
/// each piece separately must identify the pieces.
class FifoPiecesPolicy final : public SendPolicy {
 public:
  /// @param pieces largest number in an iteration
  explicit FifoPiecesPolicy(std::size_t pieces) : ready_(pieces) {}

  void begin(Time) noexcept override {
    complete_ = false;
    while (!ready_.empty()) (void)ready_.pop();
  }
  void on_ready(const GradientPiece& piece, bool last, Time) noexcept override {
    ready_.push({piece.target, piece.bytes, piece.index});
    complete_ = complete_ || last;
  }
  std::optional<PushSegment> next(Time) noexcept override {
    if (!complete_ || ready_.empty()) return std::nullopt;
    return ready_.pop();
  }

 private:
  Fifo<PushSegment> ready_;
  bool complete_ = false;
};

}  // namespace outrider::tg
