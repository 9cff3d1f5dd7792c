#pragma once

#include <cstdint>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// What a forged START of the UDP form carries.
enum class ForgedTag : std::uint8_t {
  kNone,   ///< it is unsigned
  kWrong,  ///< the id of the job's key, and a tag by another key
};

/// [job.announce.faults]: deliberate faults of a job's STARTs. Shares are of announcements; one
/// announcement is all STARTs of one worker in one iteration, to all its servers.
struct SignalFaultsConfig {
  double lost = 0;           ///< share that never leave the worker
  double late = 0;           ///< share that leave `late_by` too late
  Duration late_by{};        ///< > 0 with `late`
  double early = 0;          ///< share that leave `early_by` too early; lead_source "overlap"
  Duration early_by{};       ///< > 0 with `early`
  double duplicated = 0;     ///< share of which `copies` copies leave
  std::uint32_t copies = 1;  ///< 1 to 100
  Duration copy_gap{};       ///< from START to first copy, and from copy to copy
  /// Rate of forged STARTs of each worker, a Poisson process over its servers in turn. They
  /// announce bursts that never come, on connections that do not exist.
  double forged_per_second = 0;
  ForgedTag forged_tag = ForgedTag::kNone;
  /// Rate at which each worker's host sends its last START of the UDP form again, byte for byte.
  double replayed_per_second = 0;
};

/// @param announces  the job sends STARTs
/// @param ahead      it sends them before the gradients are due
void check(const Checks& at, const SignalFaultsConfig& faults, bool announces, bool ahead);

inline constexpr auto kForgedTags =
    choices<ForgedTag>({{"none", ForgedTag::kNone}, {"wrong", ForgedTag::kWrong}});

void describe(Settings& v, SignalFaultsConfig& c);

}  // namespace outrider::tg
