#pragma once

#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider::tg {

/// [job.r2sp]. Absent settings take the authors' values, see RoundRobinGate.
struct R2spConfig {
  std::optional<double> slack{};                      ///< > 0; absent: 1.2
  std::optional<std::uint32_t> warm_up_iterations{};  ///< pushes of worker 0; absent: 10
  bool tune_batch = false;                            ///< see BatchTuner
  std::optional<std::uint32_t> batch{};  ///< samples before tuning; absent: the learner's batch
  bool operator==(const R2spConfig&) const = default;
};

/// @param applies the job's synchronisation is R2SP
/// @param learns  the job has a learner, and therefore a batch
inline void check(const Checks& at, const R2spConfig& c, bool applies, bool learns) {
  const auto needs = [&at, applies](std::string_view key, bool given) {
    if (given && !applies) at.fault(key, "needs synchronisation \"r2sp\"");
  };
  needs("slack", c.slack.has_value());
  needs("warm_up_iterations", c.warm_up_iterations.has_value());
  needs("tune_batch", c.tune_batch);
  needs("batch", c.batch.has_value());
  if (!applies) return;
  if (c.batch && !c.tune_batch) at.fault("batch", "needs tune_batch: nothing else depends on it");
  else if (c.batch && learns) at.fault("batch", "must not be given with a learner, which has one");
  else if (!c.batch && c.tune_batch && !learns) at.fault("batch", "is required with tune_batch");
}

void describe(Settings& v, R2spConfig& c);

}  // namespace outrider::tg
