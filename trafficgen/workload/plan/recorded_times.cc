#include "trafficgen/workload/plan/recorded_times.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace outrider::tg {

RecordedTimes::Part RecordedTimes::part(Duration nominal, const MeasuredTimes& measured) {
  Part part{.nominal = seconds(nominal), .drawn = !measured.quantiles.empty()};
  for (const Duration value : part.drawn ? measured.quantiles : measured.sequence)
    part.values.push_back(seconds(value));
  return part;
}

/// Between two quantiles the distribution is taken to be uniform.
double RecordedTimes::Part::at(std::uint64_t iteration, RandomStream& draws) const noexcept {
  if (values.empty()) return nominal;
  if (!drawn) return values[iteration % values.size()];
  const double place = draws.uniform() * static_cast<double>(values.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), values.size() - 2);
  return std::lerp(values[below], values[below + 1], place - static_cast<double>(below));
}

RecordedTimes::RecordedTimes(const ModelProfile& model) : varies_(has_measured_times(model)) {
  if (!varies_) return;
  if (!model.compute_measured.empty()) whole_ = part(*model.compute(), model.compute_measured);
  forward_ = part(*model.forward, model.forward_measured);
  bool steps_vary = false;
  for (const BackwardStep& step : model.steps) {
    steps_.push_back(part(step.after, step.measured));
    steps_vary |= !step.measured.empty();
  }
  if (steps_.empty()) steps_.push_back(part(*model.backward, {}));
  if (!steps_vary) return;
  std::size_t end = model.tensors.size();
  step_of_.resize(end);
  for (std::uint32_t s = 0; s < model.steps.size(); ++s) {
    const std::size_t begin = model.steps[s].first_tensor;
    std::fill(step_of_.begin() + static_cast<std::ptrdiff_t>(begin),
              step_of_.begin() + static_cast<std::ptrdiff_t>(end), s);
    end = begin;
  }
}

double RecordedTimes::backward(std::uint64_t iteration, RandomStream& draws,
                               std::size_t steps) const noexcept {
  double sum = 0;
  for (std::size_t s = 0; s < steps; ++s) sum += steps_[s].at(iteration, draws);
  return sum;
}

RecordedTimes::Sample RecordedTimes::of(std::uint64_t iteration,
                                        RandomStream draws) const noexcept {
  assert(!empty());
  double nominal = forward_.nominal;
  for (const Part& step : steps_) nominal += step.nominal;
  if (whole_.nominal > 0)
    return {.compute = whole_.at(iteration, draws) / nominal,
            .forward_share = forward_.nominal / nominal};
  const double forward = forward_.at(iteration, draws);
  const double both = forward + backward(iteration, draws, steps_.size());
  return {.compute = both / nominal, .forward_share = forward / both};
}

double RecordedTimes::ready_share(std::uint64_t iteration, RandomStream draws,
                                  std::size_t tensor) const noexcept {
  assert(has_steps());
  (void)forward_.at(iteration, draws);  // its draw comes first
  const std::size_t steps = step_of_[tensor] + std::size_t{1};
  RandomStream again = draws;
  return steps == steps_.size()
             ? 1
             : backward(iteration, draws, steps) / backward(iteration, again, steps_.size());
}

}  // namespace outrider::tg
