#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace outrider::tg {

/// Loss over the whole data set after an update of the servers' parameters.
struct LossPoint {
  std::int64_t at_ns = 0;
  std::uint64_t gradients = 0;  ///< workers' gradients applied so far; 0 at the first point
  double loss = 0;              ///< mean over the samples [nats]
};

/// The results of a job's learner. Instants that never came are -1.
struct LearnerReport {
  std::uint16_t job = 0;
  std::string name;  ///< of the job
  std::uint64_t parameters = 0;
  std::uint64_t gradients = 0;      ///< workers' gradients that were applied completely
  std::uint64_t samples = 0;        ///< samples of these gradients
  std::uint64_t zeroed_values = 0;  ///< values of gradients that were not delivered
  std::uint64_t kept_values = 0;    ///< values of workers' copies whose update was not delivered
  double magnitude = 0;             ///< sum of |g| of all gradients that were computed
  double zeroed_magnitude = 0;      ///< of these, not delivered
  double first_loss = 0;            ///< before the first update
  double last_loss = 0;
  double least_loss = 0;
  double target_loss = -1;      ///< -1: none
  std::int64_t target_ns = -1;  ///< first loss at or below the target
  std::int64_t target_gradients = -1;
  std::int64_t diverged_ns = -1;  ///< the loss became non-finite: parameters stayed as they were
  /// The losses of every `losses_every`-th update, from the first on.
  std::uint64_t losses_every = 1;
  std::vector<LossPoint> losses;
};

}  // namespace outrider::tg
