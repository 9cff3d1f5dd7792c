#pragma once

#include <cstdint>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// [job.announce.faults]: what goes wrong with the STARTs of a job, on purpose. Shares are of
/// announcements: those of one worker in one iteration, to all its servers.
struct SignalFaultsConfig {
  double lost = 0;           ///< share that never leave the worker
  double late = 0;           ///< share that leave `late_by` too late
  Duration late_by{};        ///< > 0 with `late`
  double early = 0;          ///< share that leave `early_by` too early; lead_source "overlap"
  Duration early_by{};       ///< > 0 with `early`
  double duplicated = 0;     ///< share that leave `copies` times more
  std::uint32_t copies = 1;  ///< 1 to 100
  Duration copy_gap{};       ///< START to its first copy, and from copy to copy
  /// STARTs of bursts that never come: of each worker, to its servers in turn, Poisson. Each
  /// names a connection that does not exist.
  double forged_per_second = 0;
};

/// @param announces  the job sends STARTs
/// @param ahead      it sends them before the gradients are due
void check(const Checks& at, const SignalFaultsConfig& faults, bool announces, bool ahead);

void describe(Settings& v, SignalFaultsConfig& c);

}  // namespace outrider::tg
