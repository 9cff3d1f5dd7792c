#include "trafficgen/learner/learner.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/core/random.h"

namespace outrider::tg {
namespace {

/// Returns the sum of |g|.
double magnitude_of(std::span<const double> gradient) noexcept {
  double sum = 0;
  for (const double g : gradient) sum += std::abs(g);
  return sum;
}

}  // namespace

Learner::Learner(const Setup& setup)
    : setup_(setup),
      map_(parameters_of(setup.config), setup.shard_bytes),
      problem_(setup.config, setup.seed, std::uint32_t{setup.job} << 16),
      parameters_(problem_.start().begin(), problem_.start().end()),
      batches_(setup.workers, 0),
      shards_missing_(setup.workers, servers()),
      workers_missing_(servers(), setup.workers),
      barriers_missing_(servers()),
      losses_(setup.config.target_loss) {
  for (std::uint32_t w = 0; w < setup.workers; ++w)
    copies_.insert(copies_.end(), parameters_.begin(), parameters_.end());
  gradients_.assign(copies_.size(), 0);
  answers_ = copies_;
  note_loss(setup.start);
}

void Learner::begin_iteration(std::uint32_t worker, std::uint32_t iteration,
                              std::uint32_t batch) noexcept {
  batches_[worker] = batch == 0 ? setup_.config.batch : batch;
  const std::span<double> gradient = of(gradients_, worker);
  std::ranges::fill(gradient, 0);
  const std::uint64_t drawn = std::uint64_t{setup_.first_iteration} + iteration;
  RandomStream draws(setup_.seed + (drawn << 32), (std::uint32_t{setup_.job} << 16) | worker,
                     RandomPurpose::kLearnerBatch);
  for (std::uint32_t i = 0; i < batches_[worker]; ++i) {
    const std::uint64_t sample = (std::uint64_t{draws.next_u32()} * problem_.samples()) >> 32;
    problem_.add_gradient(of(copies_, worker), static_cast<std::uint32_t>(sample),
                          1.0 / batches_[worker], gradient);
  }
  magnitude_ += magnitude_of(gradient);
}

void Learner::push_delivered(std::uint32_t worker, std::uint32_t server,
                             std::span<const ByteRange> missing, Time now) noexcept {
  const std::span<double> gradient = of(gradients_, worker);
  for (const ByteRange& bytes : missing) {
    const ParameterMap::Range lost = map_.parameters(server, bytes);
    zeroed_magnitude_ += magnitude_of(gradient.subspan(lost.begin, lost.size()));
    std::ranges::fill(gradient.subspan(lost.begin, lost.size()), 0);
    zeroed_values_ += lost.size();
  }
  assert(shards_missing_[worker] > 0);
  const bool whole = --shards_missing_[worker] == 0;
  if (whole) {
    shards_missing_[worker] = servers();
    samples_ += batches_[worker];
    ++gradients_applied_;
  }
  if (!setup_.barrier) {
    apply(worker, map_.shard(server));
    if (whole) note_loss(now);
    return;
  }
  if (--workers_missing_[server] > 0) return;
  workers_missing_[server] = setup_.workers;
  apply_mean(map_.shard(server));
  if (--barriers_missing_ > 0) return;
  barriers_missing_ = servers();
  note_loss(now);
}

void Learner::apply(std::uint32_t worker, const ParameterMap::Range& shard) noexcept {
  if (losses_.diverged()) return;
  const std::span<const double> gradient = of(gradients_, worker);
  for (std::size_t p = shard.begin; p < shard.end; ++p)
    parameters_[p] -= setup_.config.learning_rate * gradient[p];
}

std::optional<double> Learner::mean_magnitude(std::uint32_t worker, std::uint32_t server,
                                              const ByteRange& bytes) const noexcept {
  const ParameterMap::Range there = map_.parameters(server, bytes);
  if (there.size() == 0) return std::nullopt;
  return magnitude_of(gradient(worker).subspan(there.begin, there.size())) /
         static_cast<double>(there.size());
}

/// Sums in order of the workers, not of arrival, so that the result does not depend on timing.
void Learner::apply_mean(const ParameterMap::Range& shard) noexcept {
  if (losses_.diverged()) return;
  const std::size_t size = parameters_.size();
  for (std::size_t p = shard.begin; p < shard.end; ++p) {
    double sum = 0;
    for (std::size_t w = 0; w < setup_.workers; ++w) sum += gradients_[w * size + p];
    parameters_[p] -= setup_.config.learning_rate * (sum / setup_.workers);
  }
}

void Learner::note_loss(Time now) noexcept {
  if (losses_.diverged()) return;
  losses_.add({now.time_since_epoch().count(), gradients_applied_, problem_.loss(parameters_)});
}

void Learner::answered(std::uint32_t worker, std::uint32_t server) noexcept {
  const ParameterMap::Range shard = map_.shard(server);
  std::ranges::copy(parameters().subspan(shard.begin, shard.size()),
                    of(answers_, worker).begin() + static_cast<std::ptrdiff_t>(shard.begin));
}

void Learner::pull_delivered(std::uint32_t worker, std::uint32_t server,
                             std::span<const ByteRange> missing) noexcept {
  const std::span<const double> answer = of(answers_, worker);
  const std::span<double> copy = of(copies_, worker);
  const auto take = [&](std::size_t begin, std::size_t end) {
    std::ranges::copy(answer.subspan(begin, end - begin),
                      copy.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  const ParameterMap::Range shard = map_.shard(server);
  std::size_t next = shard.begin;
  for (const ByteRange& bytes : missing) {
    const ParameterMap::Range lost = map_.parameters(server, bytes);
    take(next, lost.begin);
    next = lost.end;
    kept_values_ += lost.size();
  }
  take(next, shard.end);
}

LearnerReport Learner::report() const {
  LearnerReport r;
  r.job = setup_.id;
  r.parameters = parameters_.size();
  r.gradients = gradients_applied_;
  r.samples = samples_;
  r.zeroed_values = zeroed_values_;
  r.kept_values = kept_values_;
  r.magnitude = magnitude_;
  r.zeroed_magnitude = zeroed_magnitude_;
  losses_.fill(r);
  return r;
}

}  // namespace outrider::tg
