#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/core/byte_range.h"
#include "common/core/clock.h"
#include "trafficgen/learner/learner_config.h"
#include "trafficgen/learner/learner_report.h"
#include "trafficgen/learner/learning_problem.h"
#include "trafficgen/learner/loss_series.h"
#include "trafficgen/learner/parameter_map.h"

namespace outrider::tg {

/// Trains a small model with a job's traffic: what the job's packets stand for, kept
/// beside them because emulated hosts write no payload (docs/decisions/005). It is told
/// what the network did and never asks.
///
/// Protocol, for each worker and iteration in this order:
///  1. begin_iteration: the worker has its copy of the parameters and computes the
///     gradient of its batch at that copy, however old it is;
///  2. push_delivered, once for each server: the server applies the gradients of its
///     shard, at once or, with a barrier, the mean of all workers' when the last is there;
///  3. answered, once for each server: what the server sends is its parameters of now;
///  4. pull_delivered, once for each server: the worker's copy takes what was sent.
///
/// `missing` are the ranges of the shard's bytes, from 0 at its first, that were NOT
/// delivered: in order, disjoint, not empty, within the shard. With TCP there are none.
/// Values of a push that are missing count as zero gradients, and with a barrier as zeros
/// of the mean; values of a pull that are missing leave the worker's as they were.
/// Which bytes are which parameters: ParameterMap.
///
/// Stochastic gradient descent: parameters -= learning_rate * gradient. Batches are drawn
/// with replacement, keyed by (seed, job, worker, iteration): arms share them.
///
/// Allocates at construction alone. Not thread-safe: the job's owner has it.
class Learner {
 public:
  struct Setup {
    LearnerConfig config;  ///< model is not kNone
    std::uint64_t seed = 1;
    std::uint16_t id = 0;               ///< of the job, for the report
    std::uint16_t job = 0;              ///< entity of the draws
    std::uint32_t first_iteration = 0;  ///< added to iterations before drawing
    std::uint32_t workers = 1;
    std::vector<std::uint64_t> shard_bytes;  ///< [servers]; together at least the parameters
    bool barrier = true;                     ///< updates of all workers are applied together
    Time start{};                            ///< of the series
  };
  explicit Learner(const Setup& setup);

  /// @param batch samples; 0: as configured
  void begin_iteration(std::uint32_t worker, std::uint32_t iteration,
                       std::uint32_t batch = 0) noexcept;
  void push_delivered(std::uint32_t worker, std::uint32_t server,
                      std::span<const ByteRange> missing, Time now) noexcept;
  void answered(std::uint32_t worker, std::uint32_t server) noexcept;
  void pull_delivered(std::uint32_t worker, std::uint32_t server,
                      std::span<const ByteRange> missing) noexcept;

  /// The servers' parameters, the worker's copy, its last gradient [parameters].
  [[nodiscard]] std::span<const double> parameters() const noexcept { return parameters_; }
  [[nodiscard]] std::span<const double> copy(std::uint32_t worker) const noexcept {
    return of(copies_, worker);
  }
  [[nodiscard]] std::span<const double> gradient(std::uint32_t worker) const noexcept {
    return of(gradients_, worker);
  }
  [[nodiscard]] const ParameterMap& map() const noexcept { return map_; }
  [[nodiscard]] const LearningProblem& problem() const noexcept { return problem_; }
  /// Without the job's name.
  [[nodiscard]] LearnerReport report() const;

 private:
  [[nodiscard]] std::span<const double> of(const std::vector<double>& values,
                                           std::uint32_t worker) const noexcept {
    return std::span(values).subspan(worker * parameters_.size(), parameters_.size());
  }
  [[nodiscard]] std::span<double> of(std::vector<double>& values, std::uint32_t worker) noexcept {
    return std::span(values).subspan(worker * parameters_.size(), parameters_.size());
  }
  void apply(std::uint32_t worker, const ParameterMap::Range& shard) noexcept;
  void apply_mean(const ParameterMap::Range& shard) noexcept;
  void note_loss(Time now) noexcept;
  [[nodiscard]] std::uint32_t servers() const noexcept {
    return static_cast<std::uint32_t>(setup_.shard_bytes.size());
  }

  Setup setup_;
  ParameterMap map_;
  LearningProblem problem_;
  std::vector<double> parameters_;              ///< the servers'
  std::vector<double> copies_;                  ///< [workers][parameters]
  std::vector<double> gradients_;               ///< like copies_
  std::vector<double> answers_;                 ///< like copies_: under way to the worker
  std::vector<std::uint32_t> batches_;          ///< [workers]: samples of the last gradient
  std::vector<std::uint32_t> shards_missing_;   ///< [workers]: of its push
  std::vector<std::uint32_t> workers_missing_;  ///< [servers]: of the barrier
  std::uint32_t barriers_missing_;              ///< of the update: servers
  std::uint64_t zeroed_values_ = 0;
  std::uint64_t kept_values_ = 0;
  std::uint64_t gradients_applied_ = 0;  ///< whole; with a barrier: there
  std::uint64_t samples_ = 0;
  LossSeries losses_;
};

}  // namespace outrider::tg
