#include "trafficgen/workload/plan/compute_time.h"

#include <algorithm>
#include <cmath>

namespace outrider::tg {

namespace {

constexpr std::uint32_t kAllWorkers = 0xFFFF;  ///< entity of draws that all workers share
constexpr int kMaxRedraws = 64;

double positive_normal(double deviation, RandomStream& draws) noexcept {
  for (int i = 0; i < kMaxRedraws; ++i) {
    const double factor = 1 + deviation * draws.normal();
    if (factor > 0) return factor;
  }
  return 1;
}

/// Returns a draw with mean 1: exp(N(-s^2/2, s^2)) with s^2 = ln(1 + cv^2).
double lognormal(double variation, RandomStream& draws) noexcept {
  const double s2 = std::log1p(variation * variation);
  return std::exp(std::sqrt(s2) * draws.normal() - s2 / 2);
}

double size_of(StragglerShape shape, double uniform) noexcept {
  switch (shape) {
    case StragglerShape::kUniform:
      return 2 * uniform;
    case StragglerShape::kExponential:
      return -std::log1p(-uniform);
    case StragglerShape::kConstant:
      break;
  }
  return 1;
}

}  // namespace

double jitter_factor(JitterShape shape, double jitter, RandomStream& draws) noexcept {
  if (jitter == 0) return 1;
  switch (shape) {
    case JitterShape::kNormal:
      return positive_normal(jitter, draws);
    case JitterShape::kLognormal:
      return lognormal(jitter, draws);
    case JitterShape::kExponential:
      return 1 + draws.exponential(jitter);
    case JitterShape::kUniform:
      break;
  }
  return 1 + jitter * (2 * draws.uniform() - 1);
}

ComputeTime::ComputeTime(const JobConfig& config, const Setup& setup)
    : setup_(setup),
      shape_(config.compute_shape),
      jitter_(config.compute_jitter),
      batch_jitter_(config.batch_jitter),
      factors_(config.compute_factors) {
  if (factors_.empty()) factors_.assign(config.workers.size(), 1);
  for (const StragglerConfig& s : config.stragglers) {
    Straggler straggler{std::vector<bool>(config.workers.size(), s.workers.empty()), s};
    for (const auto& name : s.workers) {
      const auto worker = std::ranges::find(config.workers, name) - config.workers.begin();
      straggler.slows[static_cast<std::size_t>(worker)] = true;
    }
    stragglers_.push_back(std::move(straggler));
  }
}

RandomStream ComputeTime::stream(std::uint32_t worker, std::uint32_t iteration,
                                 RandomPurpose purpose) const noexcept {
  const std::uint64_t drawn = std::uint64_t{setup_.first_iteration} + iteration;
  return {setup_.seed + (drawn << 32), (std::uint32_t{setup_.job} << 16) | worker, purpose};
}

ComputeTime::Sample ComputeTime::of(std::uint32_t worker, std::uint32_t iteration,
                                    double work) const noexcept {
  RandomStream own = stream(worker, iteration, RandomPurpose::kComputeTime);
  RandomStream shared = stream(kAllWorkers, iteration, RandomPurpose::kBatchSize);
  const double factor = work * factors_[worker] * jitter_factor(shape_, batch_jitter_, shared) *
                        jitter_factor(shape_, jitter_, own);
  Sample sample{from_seconds(seconds(setup_.base) * factor)};
  slow_down(sample, worker, iteration);
  return sample;
}

ComputeTime::Sample ComputeTime::lateness(std::uint32_t worker,
                                          std::uint32_t iteration) const noexcept {
  Sample sample;
  slow_down(sample, worker, iteration);
  return sample;
}

/// Every rule makes its two draws whether it applies or not, so that rules do not shift the stream.
void ComputeTime::slow_down(Sample& sample, std::uint32_t worker,
                            std::uint32_t iteration) const noexcept {
  RandomStream draws = stream(worker, iteration, RandomPurpose::kStraggler);
  for (const Straggler& s : stragglers_) {
    const bool hit = draws.uniform() < s.config.share;
    const double size = size_of(s.config.shape, draws.uniform());
    if (!hit || !s.slows[worker]) continue;
    const double factor = 1 + (s.config.factor - 1) * size;
    sample.time =
        from_seconds(seconds(sample.time) * factor) + from_seconds(seconds(s.config.delay) * size);
    sample.straggled = true;
  }
}

}  // namespace outrider::tg
