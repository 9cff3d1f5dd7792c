#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/background_cost.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/references.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/run_result.h"
#include "tools/lab/summary/results.h"

namespace outrider::lab {

/// An experiment and its runs, in the order of the experiment file. Everything that is printed has
/// this order. A session that has its runs on disk leaves `runs` empty.
///
/// With a fixed schedule a run should continue after its last burst, say for a period.
/// The background's cost of a burst is taken over a window that is longer than the slowest
/// arm's burst, and a burst whose window the run does not cover is left out.
struct Experiment {
  std::string name;
  Runtime runtime = Runtime::kVirtual;
  std::size_t planned_cases = 0;  ///< more than there are runs: interrupted; 0: not known
  std::vector<CaseRun> runs{};
  std::string question{};
  Flagged flagged = Flagged::kKept;
  bool quick = false;      ///< PlanOptions::quick
  ConfigIssues advised{};  ///< what `check` warns of, which the answer repeats
};

/// The hosts of a job, as the case's configuration names them.
struct CaseJob {
  std::string name;
  std::size_t workers = 0;
  std::size_t servers = 0;  ///< 0: the workers send to each other
  tg::Collective collective = tg::Collective::kPs;
};

struct CaseSummary {
  std::string label;
  ArmRole role = ArmRole::kRemedy;
  Parameters parameters;
  std::uint64_t seed = 0;
  Duration base_rtt{};
  std::vector<CaseJob> jobs{};  ///< without the later runs of jobs with `arrivals`
  bool interrupted = false;
  std::optional<std::size_t> baseline{};  ///< index of the case that it is compared with
  std::optional<std::size_t> off{};       ///< index of the `off` of its point
  std::size_t point = 0;                  ///< point of the matrix, numbered as it appears
  CaseMetrics metrics;
  References references;
  BackgroundCost background_cost;     ///< against its baseline
  BackgroundCost cost_against_off{};  ///< only where that is another one
  AloneMetrics alone;                 ///< empty if the case was not run without background
  /// The run without background of the `off` of its point, or its own if there is none: an arm that
  /// makes its own network slower gains nothing by it.
  AloneMetrics network_alone{};
  std::map<std::string_view, std::vector<double>> of_rows{};  ///< see values_of_run()
};

/// Results, and the runs that a session has made them of.
struct Summary : Results {
  std::vector<CaseSummary> cases{};
};

/// What a session keeps of a finished run: all that the summary needs of it. The reports
/// themselves, which take many times the memory, are read again for the bundle.
struct RunDigest {
  const Case* definition = nullptr;  ///< never null, outlives the digest
  CaseSummary own;                   ///< but for what it takes other cases to know
  CostObservation cost;
  bool ran_alone = false;  ///< there is a run without background
  /// Says which packets are not accounted for, of the run and of that without background.
  std::vector<std::string> unbalanced{};
  std::vector<std::string> not_offered{};  ///< says which flows of background never began
};

RunDigest digest(const CaseRun& run, Runtime runtime, Flagged flagged);

/// Summarises runs from their digests, which are in the order of the plan. Pure: equal runs give an
/// equal summary.
/// @param experiment  its runs are not read
Summary summarise(const Experiment& experiment, std::span<const RunDigest* const> digests);

/// Does the same for an experiment whose runs are all in memory.
Summary summarise(const Experiment& experiment);

/// Version of summary.json, raised when a field is renamed, moved, removed or changes meaning.
inline constexpr int kSummarySchemaVersion = 3;

/// Returns summary.json. Deterministic: it has no wall time, path or address. A value
/// that is not defined is null. Numbers read back to the same double.
std::string to_json(const Summary& summary);

}  // namespace outrider::lab
