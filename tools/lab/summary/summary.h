#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/background_cost.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/references.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

/// Cases in the order of the experiment file; that order is the order of
/// everything that is printed.
///
/// With a fixed schedule a run should go on for a while after its last burst (say
/// a period): the background's cost of a burst is taken over a time that is
/// longer than the slowest arm's, and a burst whose time is not covered is left out.
struct Experiment {
  std::string name;
  Runtime runtime = Runtime::kVirtual;
  std::size_t planned_cases = 0;  ///< > runs.size(): interrupted; 0: not known
  std::vector<CaseRun> runs{};
  std::string question{};
  Flagged flagged = Flagged::kKept;
  bool quick = false;  ///< PlanOptions::quick
};

struct CaseSummary {
  std::string label;
  Parameters parameters;
  std::uint64_t seed = 0;
  Duration base_rtt{};
  bool interrupted = false;
  std::optional<std::size_t> off_case{};  ///< index of the case that it is compared with
  std::size_t point = 0;                  ///< of the matrix, numbered in order of appearance
  CaseMetrics metrics;
  References references;
  BackgroundCost background_cost;
  AloneMetrics alone;  ///< empty if the case was not run without background
  std::map<std::string_view, std::vector<double>> of_rows{};  ///< see values_of_run()
};

/// A metric of an arm, pooled over its seeds, and its ratio to the off arm's.
struct ArmMetric {
  std::string name;
  Estimate value{};
  Estimate change{};  ///< ratio to the off arm's - 1, over the seeds that both have
};

/// All cases of one label and one setting of the regulator at one point.
struct ArmSummary {
  std::string label;
  Parameters parameters;
  std::size_t point = 0;
  bool off = false;                  ///< the arm that the others of its point are compared with
  std::vector<std::size_t> cases{};  ///< indices into Summary::cases, one per seed
  std::vector<ArmMetric> metrics{};

  /// @return the metric; all NaN if these cases do not have it
  /// @throws std::out_of_range if there is none of this name
  [[nodiscard]] ArmMetric metric(std::string_view name) const;
};

struct Summary {
  std::string experiment;
  std::string question{};
  Runtime runtime = Runtime::kVirtual;
  bool interrupted = false;
  std::size_t planned_cases = 0;
  bool quick = false;  ///< PlanOptions::quick: the figures mean nothing
  std::vector<CaseSummary> cases{};
  std::vector<ArmSummary> arms{};
};

/// Pure: equal runs give an equal summary.
Summary summarise(const Experiment& experiment);

/// Raised when a field of summary.json is renamed, moved, removed or given another meaning.
inline constexpr int kSummarySchemaVersion = 2;

/// summary.json. Deterministic: holds no wall time, no path and no address; a
/// value that is not defined is null; numbers read back to the same double.
std::string to_json(const Summary& summary);

/// For a terminal, at most 110 columns.
std::string comparison_table(const Summary& summary);

}  // namespace outrider::lab
