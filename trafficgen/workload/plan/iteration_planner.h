#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/policy/send_policy.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/plan/compute_time.h"
#include "trafficgen/workload/plan/forward_pass.h"

namespace outrider::tg {

/// When a worker computes in an iteration.
struct IterationPlan {
  Time begin{};
  Time gradients_ready{};
  bool late = false;       ///< fixed schedule: due before the worker was free
  bool straggles = false;  ///< a straggler rule slows it
  /// A forward pass that waits for its layers' parameters: its end, and how long it
  /// waited. Else kNever, and forward and backward pass share begin to gradients_ready.
  Time forward_end = kNever;
  Duration forward_wait{};
};

/// Plans the iterations of a job's workers: when each begins, and when which gradients are ready.
/// Pure: the same questions have the same answers. Allocates at construction alone.
class IterationPlanner {
 public:
  struct Setup {
    ComputeTime::Setup compute{};
    std::vector<GradientPiece> pieces{};  ///< of an iteration, in the order of readiness
    bool pieces_timed = false;            ///< else all are ready after the backward pass
    std::vector<double> ready_shares{};   ///< [tensors] of the backward pass; empty: unknown
    double forward_share = 0;             ///< of the compute time
  };
  /// @param config valid; must outlive the planner
  IterationPlanner(const JobConfig& config, Setup setup);

  /// Servers answer, and forward passes wait for, every piece by itself.
  [[nodiscard]] bool by_tensor() const noexcept {
    return config_.policy.granularity == Granularity::kTensor;
  }
  [[nodiscard]] Time start_at() const noexcept { return Time{} + config_.start; }
  /// What the gradients of an iteration consist of, in the order of readiness.
  [[nodiscard]] const std::vector<GradientPiece>& pieces() const noexcept { return setup_.pieces; }
  /// For a worker to begin with a copy of. @pre by_tensor()
  [[nodiscard]] ForwardPass forward_pass() const;
  /// See ComputeTime::nominal().
  [[nodiscard]] Duration nominal(std::uint32_t worker) const noexcept {
    return compute_.nominal(worker);
  }

  /// @param free_at when the worker may begin the iteration
  /// @param work of it, as a multiple of the nominal; the closed loop heeds it
  [[nodiscard]] IterationPlan plan(std::uint32_t worker, std::uint32_t iteration, Time free_at,
                                   double work) const noexcept;
  /// Lets the forward pass wait for parameters. @param parameters when which were there
  void overlap(IterationPlan& plan, const ForwardPass& parameters) const noexcept;
  /// When a piece is ready: see ready_shares(). With kFifo and shards: at the end of the
  /// backward pass.
  [[nodiscard]] Time ready_at(const IterationPlan& plan, std::size_t piece) const noexcept;
  /// When the first gradient of the backward pass is ready, whatever is done with it.
  [[nodiscard]] Time first_gradient_at(const IterationPlan& plan) const noexcept;

 private:
  [[nodiscard]] Time gradient_at(const IterationPlan& plan, std::size_t tensor) const noexcept;

  const JobConfig& config_;
  Setup setup_;
  ComputeTime compute_;
};

}  // namespace outrider::tg
