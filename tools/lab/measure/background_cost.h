#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

enum class CostBasis : std::uint8_t {
  kNone,      ///< no off case to compare with, or no data
  kWindows,   ///< fixed schedule: [due - longest lead, due + T] of every iteration
  kWholeRun,  ///< closed loop: rates over the whole run x the off case's duration
};

/// Returns the name of a basis in summary.json.
constexpr const char* name_of(CostBasis basis) noexcept {
  constexpr const char* kNames[]{"none", "windows around bursts", "rates over the whole run"};
  return kNames[static_cast<std::size_t>(basis)];
}

/// The cost of bursts to the background of a case, compared with the off case that has
/// the same seed and parameters. Costs are signed: a gain is negative. Bytes are payload;
/// waste is wire capacity. Transfer and waste are taken at the measured queue, where a
/// pull takes nothing from the background.
struct BackgroundCost {
  CostBasis basis = CostBasis::kNone;
  double reference_bytes = kNotDefined;  ///< background's delivered bytes of the off case
  double lost_bytes = kNotDefined;
  double lost_fraction = kNotDefined;      ///< lost / reference
  double transfer_bytes = kNotDefined;     ///< bytes that DDL carried more than in off
  double waste_bytes = kNotDefined;        ///< capacity left idle more than in off
  double unexplained_bytes = kNotDefined;  ///< lost - transfer - waste
  double ddl_bytes_gained_per_background_byte_lost = kNotDefined;  ///< if any was lost
  /// Closed loop: duration of the off case's run over that of this run.
  double time_scale = 1;
  double lead_seconds = kNotDefined;    ///< longest lead of these arms
  double window_seconds = kNotDefined;  ///< T
  std::uint64_t windows = 0;            ///< iterations compared
  std::uint64_t windows_left_out = 0;   ///< missing in one of the runs, or not covered by it
  bool window_exceeded = false;         ///< an arm had a burst longer than T
};

struct CostInput {
  const Case* definition;
  Runtime runtime;
  const RunResult* result;
};

/// Computes the background's cost of every run. All runs at a point use the same windows,
/// whatever their seed.
/// @return costs[i] compares runs[i] with runs[points.off_case[i]]
std::vector<BackgroundCost> background_costs(std::span<const CostInput> runs,
                                             const CasePoints& points);

}  // namespace outrider::lab
