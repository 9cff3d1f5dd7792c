#pragma once

#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider {

/// [job.r2sp]; absent settings have the authors' values, see RoundRobinGate.
struct R2spConfig {
  std::optional<double> slack{};                      ///< > 0; absent: 1.2
  std::optional<std::uint32_t> warm_up_iterations{};  ///< of worker 0; absent: 10
  bool tune_batch = false;                            ///< see BatchTuner
  std::optional<std::uint32_t> batch{};  ///< samples before tuning; absent: the learner's
  bool operator==(const R2spConfig&) const = default;
};

/// @param applies the job's rule is R2SP
/// @param learns  it has a learner, and so a batch
inline void check(const Checks& at, const R2spConfig& c, bool applies, bool learns) {
  constexpr std::uint32_t kMaxBatch = 1U << 20;
  const auto needs = [&at, applies](std::string_view key, bool given) {
    if (given && !applies) at.fault(key, "needs synchronisation \"r2sp\"");
  };
  needs("slack", c.slack.has_value());
  needs("warm_up_iterations", c.warm_up_iterations.has_value());
  needs("tune_batch", c.tune_batch);
  needs("batch", c.batch.has_value());
  if (!applies) return;
  if (c.slack) at.in_interval("slack", *c.slack, 0, 1000, false);
  if (c.warm_up_iterations) at.in_range("warm_up_iterations", *c.warm_up_iterations, 0, 1U << 20);
  if (c.batch && !c.tune_batch) at.fault("batch", "needs tune_batch: nothing else depends on it");
  else if (c.batch && learns) at.fault("batch", "must not be given with a learner, which has one");
  else if (c.batch) at.in_range("batch", *c.batch, 1, kMaxBatch, "samples");
  else if (c.tune_batch && !learns) at.fault("batch", "is required with tune_batch");
}

template <class V>
void describe(V& v, R2spConfig& c) {
  v.value("slack", c.slack);
  v.value("warm_up_iterations", c.warm_up_iterations);
  v.value("tune_batch", c.tune_batch);
  v.value("batch", c.batch);
}

}  // namespace outrider
