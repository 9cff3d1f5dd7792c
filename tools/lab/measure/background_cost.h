#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/measure/summary_points.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

enum class CostBasis : std::uint8_t {
  kNone,      ///< no off case to compare with, or no data
  kWindows,   ///< fixed schedule: [due - longest lead, due + T] of every iteration
  kWholeRun,  ///< closed loop: rates over the whole run, times the off case's duration
};

/// As summary.json says it.
constexpr const char* name_of(CostBasis basis) noexcept {
  constexpr const char* kNames[]{"none", "windows around bursts", "rates over the whole run"};
  return kNames[static_cast<std::size_t>(basis)];
}

/// What bursts cost the background of a case, against the off case with the same
/// seed and the same parameters; signed, so that a gain is negative. Bytes are
/// payload, waste is wire capacity. Transfer and waste are those of the measured
/// queue: what a pull delivers takes nothing from the background there.
struct BackgroundCost {
  CostBasis basis = CostBasis::kNone;
  double reference_bytes = kNotDefined;  ///< background's delivered bytes of the off case
  double lost_bytes = kNotDefined;
  double lost_fraction = kNotDefined;      ///< lost / reference
  double transfer_bytes = kNotDefined;     ///< what DDL carried more
  double waste_bytes = kNotDefined;        ///< capacity of the measured queue left idle more
  double unexplained_bytes = kNotDefined;  ///< lost - transfer - waste
  double ddl_bytes_gained_per_background_byte_lost = kNotDefined;  ///< if any was lost
  double lead_seconds = kNotDefined;                               ///< longest of the arms compared
  double window_seconds = kNotDefined;                             ///< T
  std::uint64_t windows = 0;                                       ///< iterations compared
  std::uint64_t windows_left_out = 0;  ///< missing in one run, or not covered by it
  bool window_exceeded = false;        ///< some arm had a burst longer than T
};

struct CostInput {
  const Case* definition;
  Runtime runtime;
  const RunResult* result;
};

/// @return costs[i] is that of runs[i] against runs[points.off_case[i]]. Windows are
/// common to all runs at a point, whatever their seed.
std::vector<BackgroundCost> background_costs(std::span<const CostInput> runs,
                                             const CasePoints& points);

}  // namespace outrider::lab
