#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/policy/bandwidth_monitor.h"
#include "trafficgen/policy/in_flight.h"
#include "trafficgen/policy/piece_heap.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Gradients that become ready almost together, and the time until the next ones.
struct ProphetStep {
  std::uint32_t last_tensor = 0;  ///< the last tensor of the step, which has its smallest index
  Duration gap{};                 ///< time to the next step; zero after the last step
};

/// Tensors that become ready almost together, of which the first ones leave at once.
struct ProphetBlock {
  std::uint32_t first_tensor = 0;   ///< the block is ready with it
  std::uint32_t first_waiting = 0;  ///< from here on tensors wait until tensor 0 is ready
};

/// Returns the blocks that `blocks` of PolicyConfig says, from the last layer to the first.
/// @param config first tensor and first waiting one of each block, rising
std::vector<ProphetBlock> prophet_blocks(std::span<const std::uint32_t> config);

/// Divides a backward pass into steps. Steps are separated by gaps longer than twice the mean time
/// between neighbouring tensors. @param ready_at [tensors, > 0], in forward order, mean over the
/// profiled iterations. @return steps from the last layer to the first, at least one
std::vector<ProphetStep> prophet_steps(std::span<const Duration> ready_at);

/// Prophet: sends in each gap of the backward pass only as much as fits into it, the first layer's
/// gradients first, so that nothing less urgent is on the wire when the next ones appear. After the
/// last gradient it sends the rest by urgency, with a credit.
///
/// The first `profile_iterations` iterations send as WFBP does. They record when each tensor is
/// ready and how fast each piece is acknowledged. B is the fastest piece's bytes / time, times
/// `bandwidth_error`. From then on, the policy waits for a whole step,
/// puts it on a stack with the smallest index on top, and sends from the top while the next piece
/// is smaller than what is left of gap x B. The rest stays below the next step. When tensor 0 is
/// ready, the stack is drained while a credit covers it.
///
/// With `blocks` nothing is profiled and no budget is computed: when a whole block is ready, its
/// tensors before `first_waiting` leave, and the others once tensor 0 is ready. That is the
/// authors' first queue (byteps_common_scheduled_queue.h), whose lists say for one model and rate
/// what the budget computes in the second (scheduled_queue.h).
///
/// With `monitors`, B follows the network: see BandwidthMonitor. With `joins`, pieces that may
/// leave together are one message, which is the paper's block.
///
/// Source: Zhang et al., "Prophet: Speeding up Distributed DNN Training with Predictable
/// Communication Scheduling", ICPP 2021, and the authors' published queue. Deviations: without
/// `monitors` B stays as profiled (the authors' update of B during training is unfinished); a piece
/// equal to the remaining credit may leave; the budget is that of the announced gap even if the
/// previous one was exceeded.
class ProphetPolicy final : public SendPolicy {
 public:
  struct Setup {
    std::uint32_t targets = 1;
    std::span<const GradientPiece> pieces{};  ///< of an iteration; needed at construction only
    std::uint64_t credit_bytes = 0;           ///< >= every piece
    bool monitors = false;  ///< follow the bandwidth instead of keeping the profile's
    bool joins = false;     ///< pieces that leave together are one message
    double bandwidth_error = 1;
    std::uint32_t profile_iterations = 1;
    std::span<const ProphetBlock> blocks{};  ///< the last first; needed at construction only
  };
  explicit ProphetPolicy(const Setup& setup);

  void begin(Time now) noexcept override;
  void on_ready(const GradientPiece& piece, bool last, Time now) noexcept override;
  void on_acknowledged(std::uint32_t target, std::uint64_t bytes, Time now) noexcept override;
  std::optional<PushSegment> next(Time now) noexcept override;
  [[nodiscard]] bool needs_acknowledgments() const noexcept override { return true; }

  // -- results of the profile
  [[nodiscard]] std::span<const ProphetStep> steps() const noexcept { return steps_; }
  [[nodiscard]] double bandwidth_bytes_per_second() const noexcept { return bandwidth_; }

 private:
  [[nodiscard]] bool profiling() const noexcept { return profiled_ < profile_iterations_; }
  void take_step() noexcept;
  void plan() noexcept;
  [[nodiscard]] bool may_leave() const noexcept;
  PushSegment hand_out(std::uint64_t charged_bytes, Time now) noexcept;

  std::uint64_t credit_bytes_;
  bool monitors_;
  bool joins_;
  double error_;
  std::uint32_t profile_iterations_;
  std::vector<std::uint32_t> pieces_from_;  ///< [tensors]: pieces of it and of all later ones

  // the profile
  std::uint32_t profiled_ = 0;  ///< number of iterations
  bool any_ready_ = false;
  Time first_ready_{};
  std::vector<Duration> ready_sum_;  ///< [tensors], sums of times since the first tensor was ready
  double bandwidth_ = 0;             ///< [byte/s]
  BandwidthMonitor monitor_;

  // the schedule
  std::vector<ProphetBlock> blocks_;  ///< empty: budgets decide
  std::vector<ProphetStep> steps_;
  std::size_t step_ = 0;         ///< index of the step that is waited for
  std::uint32_t arrived_ = 0;    ///< number of pieces of this iteration that are ready
  Fifo<GradientPiece> waiting_;  ///< of the current step; while profiling, all that may leave
  PieceHeap stack_;
  double budget_bytes_ = 0;
  bool draining_ = false;
  InFlight in_flight_;
};

}  // namespace outrider::tg
