#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/summary/results_version.h"

namespace outrider::lab {

/// A metric of an arm, pooled over its seeds, and its ratio to the baseline's.
struct ArmMetric {
  std::string name;
  Estimate value{};
  Estimate change{};  ///< (ratio to the baseline's value) - 1, over the seeds that both have
};

/// A group of background in the cases of an arm, over its seeds.
struct GroupSummary {
  std::string name;
  std::vector<ArmMetric> figures{};  ///< in the order of group_figures()
};

/// A job's collective in the cases of an arm, in the words of nccl-tests. Times and bandwidths are
/// medians of its iterations of all seeds, and NaN if none was complete.
struct CollectiveSummary {
  std::string job{};         ///< its name
  std::string collective{};  ///< as job.collective has it: "ring"
  std::size_t ranks = 0;
  double size_bytes = kNotDefined;  ///< S, of an iteration
  double seconds = kNotDefined;     ///< t, the communication time
  double algbw_bits_per_second = kNotDefined;
  double busbw_bits_per_second = kNotDefined;
};

/// All cases of one label and one setting of the regulator at one point.
struct ArmSummary {
  std::string label;
  ArmRole role = ArmRole::kRemedy;
  Parameters parameters;
  std::size_t point = 0;
  bool off = false;                   ///< the `off` of its point
  std::vector<std::size_t> cases{};   ///< indices of runs, one per seed
  std::string against{};              ///< label of its baseline; empty: `off`, or there is none
  std::vector<std::string> beside{};  ///< in what it differs from that beside the remedy
  std::vector<ArmMetric> metrics{};
  /// The same as `beside` and `metrics` against `off`, where the baseline is another.
  std::vector<std::string> beside_off{};
  std::vector<ArmMetric> against_off{};
  std::vector<GroupSummary> groups{};            ///< of background; empty without [[background]]
  std::vector<CollectiveSummary> collectives{};  ///< of jobs that nccl-tests has words for
  /// Unique at its point, equal at all points: the label, and the settings that tell arms of one
  /// label apart. See name_arms().
  std::string name{};

  /// @return the metric of this name; all NaN if these cases do not have it
  /// @throws std::out_of_range if there is no metric of this name
  [[nodiscard]] ArmMetric metric(std::string_view name) const;
  /// Does the same against `off`, whatever the baseline is.
  [[nodiscard]] ArmMetric metric_against_off(std::string_view name) const;
};

/// An event in the runs of an arm that makes its figures less reliable.
struct ArmWarning {
  std::string label;
  std::size_t point = 0;
  std::uint64_t count = 0;
  std::string text;  ///< after the count: "iterations never completed; ..."
};

/// The arms of finished results, of which tables and answers are made. A session makes them of its
/// runs, read_results() of results.sqlite.
struct Results {
  std::string experiment{};
  std::string question{};
  Runtime runtime = Runtime::kVirtual;
  bool interrupted = false;
  std::size_t planned_cases = 0;
  std::size_t finished_cases = 0;
  bool quick = false;                 ///< PlanOptions::quick: the figures mean nothing
  int version = kResultsVersion;      ///< of the program that made them
  std::vector<std::string> advice{};  ///< what `check` warns of, a sentence each
  std::vector<ArmWarning> warnings{};
  std::vector<ArmSummary> arms{};  ///< sorted by their points
};

/// Says whether the arms have figures of a job. Without one they have background alone.
bool has_job(const std::vector<ArmSummary>& arms);

/// Fills the names of arms.
void name_arms(std::vector<ArmSummary>& arms);

/// Returns a name for each point: what distinguishes it from the first point, or from all other
/// points if they differ in only one parameter.
std::vector<std::string> point_names(const std::vector<ArmSummary>& arms);

/// Returns the label of the `off` of a point; "the baseline" if it has none.
std::string off_of_point(const std::vector<ArmSummary>& arms, std::size_t point);

/// Returns an arm's value of a parameter or setting; nullptr if it has none of this name.
const ParameterValue* parameter_of(const ArmSummary& arm, std::string_view name);

/// Says whether an arm has a value, by its text as tables, `plan` or summary.json write it: "6" is
/// "6.0", and "null" is "absent".
bool has_value(const ArmSummary& arm, std::string_view name, std::string_view text);

}  // namespace outrider::lab
