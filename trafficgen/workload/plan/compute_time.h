#pragma once

#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::tg {

/// A factor around 1 of the given shape.
/// @param jitter in [0, 1); 0 gives exactly 1
/// @param draws the first draw alone is used by kUniform and kExponential
[[nodiscard]] double jitter_factor(JitterShape shape, double jitter, RandomStream& draws) noexcept;

/// How long a worker of a job computes in an iteration:
/// base x machine x work x batch x jitter, then each straggler rule in the file's order.
///
/// Pure: every draw is keyed by (seed, job, worker, iteration, purpose), so one
/// worker, job, iteration or rule more changes nobody else's. Not thread-safe
/// only in that it must not be moved while used; it holds no mutable state.
class ComputeTime {
 public:
  struct Setup {
    std::uint64_t seed = 1;
    std::uint16_t job = 0;              ///< entity of the draws
    std::uint32_t first_iteration = 0;  ///< added to iterations before drawing
    Duration base{};                    ///< nominal, of one iteration
  };
  struct Sample {
    Duration time{};
    bool straggled = false;  ///< some rule slowed it
  };

  /// @param config valid; allocates
  ComputeTime(const JobConfig& config, const Setup& setup);

  /// Closed loop. @param work of the iteration, as a multiple of the nominal
  [[nodiscard]] Sample of(std::uint32_t worker, std::uint32_t iteration,
                          double work = 1) const noexcept;
  /// Without anything that is drawn.
  [[nodiscard]] Duration nominal(std::uint32_t worker) const noexcept {
    return from_seconds(seconds(setup_.base) * factors_[worker]);
  }
  /// Fixed schedule: what stragglers add to the due time (their delays).
  [[nodiscard]] Sample lateness(std::uint32_t worker, std::uint32_t iteration) const noexcept;

  /// Stream of one purpose, for draws that are made elsewhere with the same keys.
  [[nodiscard]] RandomStream stream(std::uint32_t worker, std::uint32_t iteration,
                                    RandomPurpose purpose) const noexcept;

 private:
  struct Straggler {
    std::vector<bool> slows;  ///< [workers]
    StragglerConfig config;
  };
  void slow_down(Sample& sample, std::uint32_t worker, std::uint32_t iteration) const noexcept;

  Setup setup_;
  JitterShape shape_;
  double jitter_;
  double batch_jitter_;
  std::vector<double> factors_;  ///< [workers]
  std::vector<Straggler> stragglers_;
};

}  // namespace outrider::tg
