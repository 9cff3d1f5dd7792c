#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/fifo.h"
#include "trafficgen/workload/job_config.h"

namespace outrider {

/// Gradients that become ready together and go to one target: a tensor, or the
/// part of it that one server holds.
struct GradientPiece {
  std::uint32_t tensor = 0;  ///< in forward order; 0 is needed first
  std::uint32_t target = 0;  ///< server
  std::uint64_t bytes = 0;   ///< > 0
};

/// Bytes to append to the stream to a target.
struct PushSegment {
  std::uint32_t target = 0;
  std::uint64_t bytes = 0;
};

/// Decides in which order, and when, the bytes of a worker's push are handed to
/// the transport. The worker tells it what becomes ready, and asks for segments
/// after every such event and once when the burst is released, until there is
/// none. It owns no connection and reads no clock.
///
/// Every byte that became ready is handed out exactly once by the time that the
/// last piece has. Per job and worker; not thread-safe; nothing allocates after
/// construction.
class SendPolicy {
 public:
  virtual ~SendPolicy() = default;
  /// A new iteration: nothing is ready.
  virtual void begin() noexcept = 0;
  /// @param last no other piece of this iteration follows
  virtual void on_ready(const GradientPiece& piece, bool last) noexcept = 0;
  /// What may leave now, if anything.
  virtual std::optional<PushSegment> next() noexcept = 0;
};

/// The whole push after the backward pass, one segment per target in their order.
class FifoPolicy final : public SendPolicy {
 public:
  explicit FifoPolicy(std::uint32_t targets) : ready_(targets, 0) {}

  void begin() noexcept override {
    complete_ = false;
    next_ = 0;
    for (auto& bytes : ready_) bytes = 0;
  }
  void on_ready(const GradientPiece& piece, bool last) noexcept override {
    ready_[piece.target] += piece.bytes;
    complete_ = complete_ || last;
  }
  std::optional<PushSegment> next() noexcept override {
    if (!complete_ || next_ == ready_.size()) return std::nullopt;
    const std::uint32_t target = next_++;
    return PushSegment{target, ready_[target]};
  }

 private:
  std::vector<std::uint64_t> ready_;  ///< [targets], bytes
  std::uint32_t next_ = 0;
  bool complete_ = false;
};

/// Wait-free back-propagation: every gradient as soon as it is ready, in the
/// order of the backward pass.
///
/// Source: Zhang et al., "Poseidon: An Efficient Communication Architecture for
/// Distributed Deep Learning on GPU Clusters", USENIX ATC 2017, section 3.1.
/// Deviation: it concerns the push alone; the next forward pass waits for all
/// parameters.
class WfbpPolicy final : public SendPolicy {
 public:
  /// @param pieces of an iteration, at most
  explicit WfbpPolicy(std::size_t pieces) : ready_(pieces) {}

  void begin() noexcept override {
    while (!ready_.empty()) (void)ready_.pop();
  }
  void on_ready(const GradientPiece& piece, bool) noexcept override {
    ready_.push({piece.target, piece.bytes});
  }
  std::optional<PushSegment> next() noexcept override {
    if (ready_.empty()) return std::nullopt;
    return ready_.pop();
  }

 private:
  Fifo<PushSegment> ready_;
};

/// @param targets of the worker  @param pieces of an iteration
inline std::unique_ptr<SendPolicy> make_send_policy(SendPolicyKind kind, std::uint32_t targets,
                                                    std::size_t pieces) {
  if (kind == SendPolicyKind::kWfbp) return std::make_unique<WfbpPolicy>(pieces);
  return std::make_unique<FifoPolicy>(targets);
}

}  // namespace outrider
