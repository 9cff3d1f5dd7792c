#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/core/byte_range.h"
#include "trafficgen/learner/learner_config.h"
#include "trafficgen/learner/learner_report.h"
#include "trafficgen/learner/learning_problem.h"
#include "trafficgen/learner/loss_series.h"
#include "trafficgen/learner/parameter_map.h"

namespace outrider::tg {

/// Trains a small model with a job's traffic. Its values stand for the payload of the job's
/// packets; they are kept here because emulated hosts write no payload (docs/decisions/005). The
/// learner is told what the network did and never asks.
///
/// Protocol, for each worker and iteration in this order:
///  1. begin_iteration: the worker has its copy of the parameters and computes the gradient of its
///     batch at that copy, however old it is;
///  2. push_delivered, once for each server: the server applies the gradients of its shard, at once
///     or, with a barrier, as the mean of all workers' when the last has arrived;
///  3. answered, once for each server: the server sends its current parameters;
///  4. pull_delivered, once for each server: the worker's copy takes what was sent.
///
/// `missing` are the ranges of the shard's bytes, counted from its first, that were NOT delivered:
/// in order, disjoint, not empty, within the shard. With TCP there are none. Missing values of a
/// push count as zero gradients, and with a barrier as zeros in the mean. Missing values of a pull
/// leave the worker's values unchanged. ParameterMap maps bytes to parameters.
///
/// Method: stochastic gradient descent, parameters -= learning_rate * gradient. Batches are drawn
/// with replacement, keyed by (seed, job, worker, iteration), so that arms share them.
///
/// Allocates at construction only. Not thread-safe: the job's owner has it.
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
    Time start{};                            ///< begin of the series
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

  /// Returns the mean |g| of the worker's last gradient over the parameters in a range of the
  /// shard's bytes; nothing if no parameter is there.
  [[nodiscard]] std::optional<double> mean_magnitude(std::uint32_t worker, std::uint32_t server,
                                                     const ByteRange& bytes) const noexcept;

  /// The servers' parameters, the worker's copy and its last gradient, each [parameters].
  [[nodiscard]] std::span<const double> parameters() const noexcept { return parameters_; }
  [[nodiscard]] std::span<const double> copy(std::uint32_t worker) const noexcept {
    return of(copies_, worker);
  }
  [[nodiscard]] std::span<const double> gradient(std::uint32_t worker) const noexcept {
    return of(gradients_, worker);
  }
  [[nodiscard]] const ParameterMap& map() const noexcept { return map_; }
  [[nodiscard]] const LearningProblem& problem() const noexcept { return problem_; }
  /// Returns the report without the job's name.
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
  std::vector<double> parameters_;              ///< of the servers
  std::vector<double> copies_;                  ///< [workers][parameters]
  std::vector<double> gradients_;               ///< like copies_
  std::vector<double> answers_;                 ///< like copies_: in flight to the worker
  std::vector<std::uint32_t> batches_;          ///< [workers]: samples of the last gradient
  std::vector<std::uint32_t> shards_missing_;   ///< [workers]: servers without its push
  std::vector<std::uint32_t> workers_missing_;  ///< [servers]: workers that the barrier waits for
  std::uint32_t barriers_missing_;              ///< servers that the update waits for
  std::uint64_t zeroed_values_ = 0;
  double zeroed_magnitude_ = 0;  ///< sum of |g| of these values
  double magnitude_ = 0;         ///< sum of |g| of all gradients that were computed
  std::uint64_t kept_values_ = 0;
  std::uint64_t gradients_applied_ = 0;  ///< complete ones; with a barrier: those that arrived
  std::uint64_t samples_ = 0;
  LossSeries losses_;
};

}  // namespace outrider::tg
