#pragma once

#include <cstddef>
#include <optional>

#include "trafficgen/core/fifo.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Wait-free back-propagation: sends every gradient as soon as it is ready, in the order of the
/// backward pass.
///
/// Source: Zhang et al., "Poseidon: An Efficient Communication Architecture for
/// Distributed Deep Learning on GPU Clusters", USENIX ATC 2017, section 3.1.
/// Deviation: with Granularity::kShard only the push is wait-free; the next forward pass waits for
/// all parameters.
class WfbpPolicy final : public SendPolicy {
 public:
  /// @param pieces largest number in an iteration
  explicit WfbpPolicy(std::size_t pieces) : ready_(pieces) {}

  void begin(Time) noexcept override {
    while (!ready_.empty()) (void)ready_.pop();
  }
  void on_ready(const GradientPiece& piece, bool, Time) noexcept override {
    ready_.push({piece.target, piece.bytes, piece.index});
  }
  std::optional<PushSegment> next(Time) noexcept override {
    if (ready_.empty()) return std::nullopt;
    return ready_.pop();
  }

 private:
  Fifo<PushSegment> ready_;
};

}  // namespace outrider::tg
