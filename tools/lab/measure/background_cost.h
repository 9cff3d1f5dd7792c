#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/run_result.h"

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

/// A share of the background's bytes below which nothing counts as lost where something is divided
/// by what was.
inline constexpr double kLeastLost = 0.001;

/// The cost of bursts to the background of a case, compared with the off case that has
/// the same seed and parameters. Costs are signed: a gain is negative. Bytes are payload;
/// waste is wire capacity. Transfer and waste are taken at the port of the measured
/// queue, where a pull takes nothing from the background.
struct BackgroundCost {
  CostBasis basis = CostBasis::kNone;
  double reference_bytes = kNotDefined;  ///< background's delivered bytes of the off case
  double lost_bytes = kNotDefined;
  double lost_fraction = kNotDefined;      ///< lost / reference
  double transfer_bytes = kNotDefined;     ///< bytes that DDL carried more than in off
  double waste_bytes = kNotDefined;        ///< capacity left idle more than in off
  double unexplained_bytes = kNotDefined;  ///< lost - transfer - waste
  double ddl_bytes_gained_per_background_byte_lost = kNotDefined;  ///< if kLeastLost was lost
  /// Closed loop: duration of the off case's run over that of this run.
  double time_scale = 1;
  double lead_seconds = kNotDefined;    ///< longest lead of these arms
  double window_seconds = kNotDefined;  ///< T, or the longest window where all are shorter
  std::uint64_t windows = 0;            ///< iterations compared
  std::uint64_t windows_left_out = 0;   ///< missing in one of the runs, or not covered by it
  bool window_exceeded = false;         ///< an arm had a burst longer than T
};

/// What a comparison of costs needs of one run: a small part of its reports. Times are of the
/// generator's clock [ns].
struct CostObservation {
  const Case* definition = nullptr;  ///< outlives the observation
  bool fixed_schedule = false;
  RunningTotal background{};   ///< delivered bytes
  RunningTotal ddl{};          ///< frame bytes that left by the measured port, switch clock
  RunningTotal busy{};         ///< busy time of that port's transmitter [ns], switch clock
  double payload_share = 1;    ///< payload / bytes of a DDL frame
  double bytes_per_ns = 0;     ///< rate of that transmitter
  std::int64_t offset_ns = 0;  ///< switch clock minus generator clock
  std::int64_t end_ns = 0;
  std::int64_t covered_ns = 0;  ///< end of the time that every series covers
  std::int64_t lead_ns = 0;
  std::pair<std::int64_t, std::int64_t> measured_ns{};  ///< measured_span_ns()
  std::vector<IterationBursts> pushes{};                ///< without their bursts
};

CostObservation observe_cost(const Case& definition, Runtime runtime, const RunResult& result);

/// Computes the background's cost of every run. All runs at a point use the same windows,
/// whatever their seed.
/// @return costs[i] compares runs[i] with runs[points.baseline[i]]
std::vector<BackgroundCost> background_costs(std::span<const CostObservation* const> runs,
                                             const CasePoints& points);

}  // namespace outrider::lab
