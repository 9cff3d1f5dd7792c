#pragma once

#include <cstdint>
#include <optional>

#include "trafficgen/learner/learner.h"
#include "trafficgen/measure/job_report.h"
#include "trafficgen/workload/collective/collective.h"
#include "trafficgen/workload/exchange/gradient_magnitudes.h"
#include "trafficgen/workload/plan/iteration_planner.h"
#include "trafficgen/workload/sync/iteration_limit.h"
#include "trafficgen/workload/sync/round_robin.h"
#include "trafficgen/workload/sync/staleness_gate.h"

namespace outrider::tg {

class Job;

/// Leads a job's workers from one iteration to the next: plans when each iteration begins, takes
/// what the collective reports, and decides which workers may go on. It notes all of this in the
/// job's records, and tells the learner.
///
/// Not thread-safe: the job owns it. Allocates at construction only.
class JobIterations final : public CollectiveOperation::Owner,
                            private RoundRobin::Owner,
                            private GradientMagnitudes {
 public:
  struct Counts : JobProgress {
    std::uint64_t late = 0;  ///< iterations that were due before their worker was free
    std::uint32_t finished_workers = 0;
    std::uint64_t lost_bursts = 0;  ///< that will never be delivered: the job has ended
  };
  /// @param job its setup() is read here, its other parts are used later; outlives this object
  explicit JobIterations(Job& job);

  /// Plans the worker's next iteration.
  /// @param free_at when the worker may begin the iteration
  /// @param parameters when the worker had which parameters, with by_tensor(); nullptr: it had all
  ///   of them at free_at
  /// @return nothing if the worker has done its last iteration
  std::optional<IterationPlan> begin(std::uint32_t worker, std::uint32_t iteration, Time free_at,
                                     const ForwardPass* parameters = nullptr) noexcept;
  /// The worker has all parameters. @param next when its next forward pass may begin, <= now
  void end(std::uint32_t worker, std::uint32_t iteration, Time next, Time now) noexcept;

  [[nodiscard]] const IterationPlanner& planner() const noexcept { return planner_; }
  [[nodiscard]] const StalenessGate& gate() const noexcept { return gate_; }
  /// Holds nothing unless workers take turns (R2SP).
  [[nodiscard]] const std::optional<RoundRobin>& round_robin() const noexcept {
    return round_robin_;
  }
  /// Holds nothing unless the job has a learner.
  [[nodiscard]] const std::optional<Learner>& learner() const noexcept { return learner_; }
  /// Returns the learner's gradients; nullptr without a learner.
  [[nodiscard]] const GradientMagnitudes* magnitudes() const noexcept {
    return learner_ ? this : nullptr;
  }
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  // CollectiveOperation::Owner
  void on_pushed(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                 Time now) noexcept override;
  void on_pulled(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                 Time now) noexcept override;
  void on_parameters(std::uint32_t worker, std::uint32_t tensor, Time now) noexcept override;
  void on_answered(const Lane& lane) noexcept override;
  void on_cleared(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept override;
  void on_staleness(std::uint32_t worker, std::uint32_t iteration,
                    std::uint64_t updates) noexcept override;
  void on_blocked(std::uint32_t worker, Time from, Time to) noexcept override;
  void on_done(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept override;
  /// Ends the job.
  void on_lost(Time) noexcept override { ++counts_.lost_bursts; }
  // RoundRobin::Owner
  void admit(std::uint32_t worker, Duration held, Time now) noexcept override;
  // GradientMagnitudes
  /// @pre learner()
  [[nodiscard]] std::optional<double> mean_magnitude(
      std::uint32_t worker, std::uint32_t target, const ByteRange& bytes) const noexcept override {
    return learner_->mean_magnitude(worker, target, bytes);
  }

  [[nodiscard]] bool note_arrival(const Lane& lane, std::uint32_t iteration,
                                  const BurstArrival& arrival, Time now) noexcept;

  Job& job_;
  IterationPlanner planner_;
  IterationLimit limit_;
  StalenessGate gate_;  ///< of whole pushes: who is ahead, and who may go on without a pull
  std::optional<Learner> learner_;
  std::optional<RoundRobin> round_robin_;
  Counts counts_;
};

}  // namespace outrider::tg
