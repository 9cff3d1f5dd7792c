#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/advise/advised_file.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The kinds of what can be done, the simplest first: of two that are as good, the simpler one is
/// advised.
enum class RemedyKind : std::uint8_t {
  kNothing,
  kMarking,    ///< thresholds of one queue, or another marker, at all times
  kNics,       ///< over RoCEv2: settings of rate control
  kPauses,     ///< priority flow control is on, off, or sets in elsewhere
  kTwoQueues,  ///< a queue for the job, without signals
  kOrder,      ///< the framework sends in another order
  kMark,       ///< bursts are announced: a low threshold for their time
  kPace,
  kWindow,
  kGrant,
  kSteer,      ///< a queue that is the job's from START on
  kTelemetry,  ///< over RoCEv2: a controller that reads what switches tell
};

/// The kind of an arm, and what it takes.
struct RemedyNature {
  RemedyKind kind = RemedyKind::kNothing;
  bool announced = false;   ///< workers send STARTs, and the switch understands them
  bool two_queues = false;  ///< the job has a queue of its own
  bool outrider = false;    ///< no other switch can do it
  bool operator==(const RemedyNature&) const = default;
};

/// Returns the nature of an arm, by what it changes. @param parameters  of one of its cases
/// @param off  those of the arm `off`
[[nodiscard]] RemedyNature nature_of(const std::string& label, const Parameters& parameters,
                                     const Parameters& off);
/// Says whether what may be changed is enough for it.
[[nodiscard]] bool is_possible(const RemedyNature& nature, const AdvisedFile& advised);
/// Returns what it takes that the file allows by default alone: "change.hosts = true".
[[nodiscard]] std::vector<std::string> needs_by_default(const RemedyNature& nature,
                                                        const AdvisedFile& advised);
[[nodiscard]] std::string_view name_of(RemedyKind kind) noexcept;

/// The times of one job with an arm.
struct JobTimes {
  std::string name;
  double median_seconds = kNotDefined;  ///< over the seeds, the mean of the runs' medians
  double p99_seconds = kNotDefined;
};

/// The gain and the cost of an arm, as measured. The time is that of an iteration if the job is a
/// closed loop, else that of a burst; with several jobs, the mean of their times.
struct Remedy {
  std::string label;
  RemedyNature nature{};
  std::size_t seeds = 0;
  Estimate time_seconds{};  ///< median
  Estimate tail_seconds{};  ///< p99 of the same
  Estimate change{};        ///< of the median against nothing, a share
  /// The median over that without background; NaN with several jobs.
  double over_alone = kNotDefined;
  Estimate lost{};                   ///< bytes of background for each byte of the bursts
  double short_flows = kNotDefined;  ///< their p99 over that with nothing; NaN: there are none
  std::vector<JobTimes> jobs{};      ///< empty if there is one
};

/// Returns the name of the metric by which remedies are judged: Remedy::time_seconds.
[[nodiscard]] std::string judging_metric(const AdvisedTraits& traits);

/// Returns why a run of a case says little of its time, by the job that measures fewest iterations;
/// empty: it measures several
[[nodiscard]] std::string few_iterations_text(const Case& c);

/// Returns what a summary of advise's experiment says of each arm.
/// @throws std::runtime_error if there is no arm "off"
[[nodiscard]] std::vector<Remedy> remedies_of(const Summary& summary, const AdvisedTraits& traits);

}  // namespace outrider::lab
