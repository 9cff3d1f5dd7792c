#include "trafficgen/policy/prophet_policy.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

namespace {

std::size_t tensors_of(std::span<const GradientPiece> pieces) {
  std::uint32_t most = 0;
  for (const auto& p : pieces) most = std::max(most, p.tensor);
  return pieces.empty() ? 0 : std::size_t{most} + 1;
}

/// Fills an existing vector, because nothing may allocate after construction.
void find_steps(std::span<const Duration> ready_at, std::vector<ProphetStep>& steps) noexcept {
  steps.clear();
  const std::size_t tensors = ready_at.size();
  Duration total{};
  for (std::size_t t = 1; t < tensors; ++t)
    total += std::max(ready_at[t - 1] - ready_at[t], ready_at[t] - ready_at[t - 1]);
  for (std::size_t t = tensors - 1; t > 0; --t) {
    const Duration gap = ready_at[t - 1] - ready_at[t];
    // gap > 2 x total / (tensors - 1), in whole numbers
    if (gap * static_cast<std::int64_t>(tensors - 1) > 2 * total)
      steps.push_back({static_cast<std::uint32_t>(t), gap});
  }
  steps.push_back({0, Duration::zero()});
}

}  // namespace

std::vector<ProphetBlock> prophet_blocks(std::span<const std::uint32_t> config) {
  std::vector<ProphetBlock> blocks;
  for (std::size_t i = config.size(); i >= 2; i -= 2)
    blocks.push_back({config[i - 2], config[i - 1]});
  return blocks;
}

std::vector<ProphetStep> prophet_steps(std::span<const Duration> ready_at) {
  std::vector<ProphetStep> steps;
  find_steps(ready_at, steps);
  return steps;
}

ProphetPolicy::ProphetPolicy(const Setup& setup)
    : credit_bytes_(setup.credit_bytes),
      monitors_(setup.monitors),
      joins_(setup.joins),
      error_(setup.bandwidth_error),
      profile_iterations_(setup.blocks.empty() ? setup.profile_iterations : 0),
      pieces_from_(tensors_of(setup.pieces), 0),
      ready_sum_(pieces_from_.size(), Duration::zero()),
      blocks_(setup.blocks.begin(), setup.blocks.end()),
      waiting_(setup.pieces.size()),
      stack_(setup.pieces.size()),
      in_flight_(setup.targets, setup.pieces.size()) {
  assert(!setup.pieces.empty());
  for (const auto& p : setup.pieces) {
    assert(p.bytes <= credit_bytes_);
    ++pieces_from_[p.tensor];
  }
  for (std::size_t t = pieces_from_.size() - 1; t-- > 0;) pieces_from_[t] += pieces_from_[t + 1];
  steps_.reserve(pieces_from_.size());
  for (const ProphetBlock& block : blocks_)
    steps_.push_back({block.first_tensor, Duration::zero()});
}

void ProphetPolicy::begin(Time now) noexcept {
  if (monitors_ && monitor_.end_iteration(now)) bandwidth_ = monitor_.bytes_per_second();
  if (profiling() && any_ready_ && ++profiled_ == profile_iterations_) plan();
  any_ready_ = false;
  arrived_ = 0;
  step_ = 0;
  budget_bytes_ = 0;
  draining_ = false;
  while (!waiting_.empty()) (void)waiting_.pop();
  stack_.clear();
}

void ProphetPolicy::plan() noexcept {
  for (auto& sum : ready_sum_) sum /= profiled_;
  find_steps(ready_sum_, steps_);
}

void ProphetPolicy::on_ready(const GradientPiece& piece, bool, Time now) noexcept {
  if (!any_ready_) first_ready_ = now;
  any_ready_ = true;
  waiting_.push(piece);
  ++arrived_;
  if (profiling()) {
    if (arrived_ == pieces_from_[piece.tensor]) ready_sum_[piece.tensor] += now - first_ready_;
    return;
  }
  if (arrived_ == pieces_from_[steps_[step_].last_tensor]) take_step();
}

void ProphetPolicy::take_step() noexcept {
  while (!waiting_.empty()) stack_.push(waiting_.pop());
  const ProphetStep& step = steps_[step_];
  budget_bytes_ = seconds(step.gap) * bandwidth_ * error_;
  draining_ = step.last_tensor == 0;
  if (!draining_) ++step_;
}

void ProphetPolicy::on_acknowledged(std::uint32_t target, std::uint64_t bytes, Time now) noexcept {
  if (monitors_) monitor_.on_acknowledged(bytes);
  in_flight_.acknowledge(target, bytes, [&](const InFlight::Segment& s) {
    if (!profiling() || monitors_ || now <= s.handed_out) return;
    bandwidth_ = std::max(bandwidth_, static_cast<double>(s.bytes) / seconds(now - s.handed_out));
  });
  if (monitors_ && in_flight_.empty()) monitor_.on_idle(now);
}

PushSegment ProphetPolicy::hand_out(std::uint64_t charged_bytes, Time now) noexcept {
  const GradientPiece piece = profiling() ? waiting_.pop() : stack_.pop();
  if (monitors_ && in_flight_.empty()) monitor_.on_busy(now);
  in_flight_.add(piece.target, {piece.bytes, charged_bytes, now});
  return {piece.target, piece.bytes, piece.index, joins_ && may_leave()};
}

bool ProphetPolicy::may_leave() const noexcept {
  if (profiling() || stack_.empty()) return false;
  const std::uint64_t bytes = stack_.top().bytes;
  if (draining_) return bytes <= credit_bytes_ - in_flight_.charged_bytes();
  if (!blocks_.empty()) return step_ > 0 && stack_.top().tensor < blocks_[step_ - 1].first_waiting;
  return static_cast<double>(bytes) < budget_bytes_;  // otherwise it waits for the next step
}

std::optional<PushSegment> ProphetPolicy::next(Time now) noexcept {
  if (profiling()) {
    if (waiting_.empty()) return std::nullopt;
    return hand_out(0, now);
  }
  if (!may_leave()) return std::nullopt;
  const std::uint64_t bytes = stack_.top().bytes;
  if (draining_) return hand_out(bytes, now);
  budget_bytes_ -= static_cast<double>(bytes);
  return hand_out(0, now);
}

}  // namespace outrider::tg
