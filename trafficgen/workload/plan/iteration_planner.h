#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/policy/send_policy.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/plan/compute_time.h"
#include "trafficgen/workload/plan/forward_pass.h"
#include "trafficgen/workload/plan/recorded_times.h"

namespace outrider::tg {

/// The times at which a worker computes in an iteration.
struct IterationPlan {
  std::uint32_t worker = 0;
  std::uint32_t iteration = 0;
  Time begin{};
  Time gradients_ready{};
  bool late = false;       ///< fixed schedule: due before the worker was free
  bool straggles = false;  ///< a straggler rule slows it
  /// If the forward pass waits for its layers' parameters: when it ends, and how long it waited.
  /// Otherwise kNever; then both passes share the time from begin to gradients_ready.
  Time forward_end = kNever;
  Duration forward_wait{};
};

/// Plans the iterations of a job's workers: when each begins, and when which gradients are ready.
/// Pure: equal arguments give equal results. Allocates at construction only.
class IterationPlanner {
 public:
  struct Setup {
    ComputeTime::Setup compute{};
    std::vector<GradientPiece> pieces{};  ///< pieces of an iteration, in the order of readiness
    bool pieces_timed = false;            ///< false: all pieces are ready after the backward pass
    std::vector<double> ready_shares{};   ///< [tensors] of the backward pass; empty: unknown
    double forward_share = 0;             ///< share of the compute time
    RecordedTimes recorded{};             ///< for kClosedLoop
  };
  /// @param config must be valid and outlive the planner
  IterationPlanner(const JobConfig& config, Setup setup);

  /// Returns true if servers answer, and forward passes wait for, every piece separately.
  [[nodiscard]] bool by_tensor() const noexcept {
    return config_.policy.granularity == Granularity::kTensor;
  }
  [[nodiscard]] Time start_at() const noexcept { return Time{} + config_.start; }
  /// Returns the pieces of an iteration's gradients, in the order of readiness.
  [[nodiscard]] const std::vector<GradientPiece>& pieces() const noexcept { return setup_.pieces; }
  /// Returns a ForwardPass that each worker copies at its begin. @pre by_tensor()
  [[nodiscard]] ForwardPass forward_pass() const;
  /// See ComputeTime::nominal().
  [[nodiscard]] Duration nominal(std::uint32_t worker) const noexcept {
    return compute_.nominal(worker);
  }

  /// Plans an iteration.
  /// @param free_at when the worker may begin the iteration
  /// @param work of the iteration, as a multiple of the nominal; used by the closed loop only
  [[nodiscard]] IterationPlan plan(std::uint32_t worker, std::uint32_t iteration, Time free_at,
                                   double work) const noexcept;
  /// Lets the forward pass wait for parameters. @param parameters when which of them arrived
  void overlap(IterationPlan& plan, const ForwardPass& parameters) const noexcept;
  /// Returns when a piece is ready, see ready_shares(). With kFifo and shards this is the end of
  /// the backward pass.
  [[nodiscard]] Time ready_at(const IterationPlan& plan, std::size_t piece) const noexcept;
  /// Returns when the backward pass makes its first gradient, regardless of how it is used.
  [[nodiscard]] Time first_gradient_at(const IterationPlan& plan) const noexcept;

 private:
  [[nodiscard]] RandomStream recorded_draws(const IterationPlan& plan) const noexcept {
    return compute_.stream(plan.worker, plan.iteration, RandomPurpose::kRecordedTime);
  }
  [[nodiscard]] std::uint64_t recorded_iteration(const IterationPlan& plan) const noexcept {
    return std::uint64_t{setup_.compute.first_iteration} + plan.iteration;
  }
  /// Returns the share of the forward pass in the iteration's compute time.
  [[nodiscard]] double forward_share(const IterationPlan& plan) const noexcept;
  [[nodiscard]] double ready_share(const IterationPlan& plan, std::size_t tensor) const noexcept;
  [[nodiscard]] Time gradient_at(const IterationPlan& plan, std::size_t tensor) const noexcept;

  const JobConfig& config_;
  Setup setup_;
  ComputeTime compute_;
};

}  // namespace outrider::tg
