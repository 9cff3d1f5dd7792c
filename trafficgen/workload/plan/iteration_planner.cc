#include "trafficgen/workload/plan/iteration_planner.h"

#include <algorithm>
#include <utility>

#include "trafficgen/workload/plan/release_profile.h"

namespace outrider::tg {

IterationPlanner::IterationPlanner(const JobConfig& config, Setup setup)
    : config_(config), setup_(std::move(setup)), compute_(config, setup_.compute) {}

ForwardPass IterationPlanner::forward_pass() const {
  std::vector<std::uint32_t> parts(setup_.ready_shares.size(), 0);
  for (const auto& p : setup_.pieces) ++parts[p.tensor];
  return {std::move(parts), forward_shares(setup_.ready_shares)};
}

IterationPlan IterationPlanner::plan(std::uint32_t worker, std::uint32_t iteration, Time free_at,
                                     double work) const noexcept {
  const JobConfig& c = config_;
  if (c.schedule == Schedule::kClosedLoop) {
    IterationPlan plan{.worker = worker, .iteration = iteration, .begin = free_at};
    if (!setup_.recorded.empty())
      work *= setup_.recorded.of(recorded_iteration(plan), recorded_draws(plan)).compute;
    const ComputeTime::Sample compute = compute_.of(worker, iteration, work);
    plan.gradients_ready = free_at + compute.time;
    plan.straggles = compute.straggled;
    return plan;
  }
  RandomStream jitter = compute_.stream(worker, iteration, RandomPurpose::kBurstDue);
  const ComputeTime::Sample late = compute_.lateness(worker, iteration);
  const Time due = start_at() + c.first_due + c.period * static_cast<std::int64_t>(iteration) +
                   from_seconds(seconds(c.due_jitter) * jitter.uniform()) + late.time;
  return {.worker = worker,
          .iteration = iteration,
          .begin = due,
          .gradients_ready = std::max(due, free_at),
          .late = free_at > due,
          .straggles = late.straggled};
}

Time IterationPlanner::ready_at(const IterationPlan& plan, std::size_t piece) const noexcept {
  const bool at_once = config_.send_policy == SendPolicyKind::kFifo && !by_tensor();
  return !setup_.pieces_timed || at_once ? plan.gradients_ready
                                         : gradient_at(plan, setup_.pieces[piece].tensor);
}

double IterationPlanner::forward_share(const IterationPlan& plan) const noexcept {
  if (setup_.recorded.empty()) return setup_.forward_share;
  return setup_.recorded.of(recorded_iteration(plan), recorded_draws(plan)).forward_share;
}

double IterationPlanner::ready_share(const IterationPlan& plan, std::size_t tensor) const noexcept {
  if (setup_.ready_shares.empty()) return 1;
  if (!setup_.recorded.has_steps()) return setup_.ready_shares[tensor];
  return setup_.recorded.ready_share(recorded_iteration(plan), recorded_draws(plan), tensor);
}

Time IterationPlanner::gradient_at(const IterationPlan& plan, std::size_t tensor) const noexcept {
  const double passed = ready_share(plan, tensor);
  if (passed >= 1) return plan.gradients_ready;
  if (plan.forward_end != kNever)
    return plan.forward_end +
           from_seconds(seconds(plan.gradients_ready - plan.forward_end) * passed);
  const double forward = forward_share(plan);
  const double share = forward + (1 - forward) * passed;
  return plan.begin + from_seconds(seconds(plan.gradients_ready - plan.begin) * share);
}

Time IterationPlanner::first_gradient_at(const IterationPlan& plan) const noexcept {
  return gradient_at(plan, std::max<std::size_t>(setup_.ready_shares.size(), 1) - 1);
}

void IterationPlanner::overlap(IterationPlan& plan, const ForwardPass& parameters) const noexcept {
  const Duration compute = plan.gradients_ready - plan.begin;
  const Duration forward = from_seconds(seconds(compute) * forward_share(plan));
  const ForwardPass::Result pass = parameters.run(forward);
  plan.forward_end = pass.end;
  plan.forward_wait = pass.waited;
  plan.gradients_ready = pass.end + (compute - forward);
}

}  // namespace outrider::tg
