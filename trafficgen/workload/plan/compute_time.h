#pragma once

#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::tg {

/// Returns a random factor around 1 of the given shape.
/// @param jitter in [0, 1); 0 gives exactly 1
/// @param draws stream; kUniform and kExponential use its first draw only
[[nodiscard]] double jitter_factor(JitterShape shape, double jitter, RandomStream& draws) noexcept;

/// Computes how long a worker computes in an iteration: base x machine x work x batch x jitter,
/// then each straggler rule in the file's order.
///
/// Pure: every draw is keyed by (seed, job, worker, iteration, purpose), so that an additional
/// worker, job, iteration or rule changes no other draws. Holds no mutable state, so that only
/// moving it while it is in use is unsafe.
class ComputeTime {
 public:
  struct Setup {
    std::uint64_t seed = 1;
    std::uint16_t job = 0;              ///< entity of the draws
    std::uint32_t first_iteration = 0;  ///< added to iterations before drawing
    Duration base{};                    ///< nominal time of one iteration
  };
  struct Sample {
    Duration time{};
    bool straggled = false;  ///< a rule slowed it
  };

  /// Allocates. @param config must be valid
  ComputeTime(const JobConfig& config, const Setup& setup);

  /// Returns the time in the closed loop. @param work of the iteration, as a multiple of the
  /// nominal
  [[nodiscard]] Sample of(std::uint32_t worker, std::uint32_t iteration,
                          double work = 1) const noexcept;
  /// Returns the time without any random factor.
  [[nodiscard]] Duration nominal(std::uint32_t worker) const noexcept {
    return from_seconds(seconds(setup_.base) * factors_[worker]);
  }
  /// Returns, for the fixed schedule, the delays that stragglers add to the due time.
  [[nodiscard]] Sample lateness(std::uint32_t worker, std::uint32_t iteration) const noexcept;

  /// Returns the stream of one purpose, for draws elsewhere with the same keys.
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
