#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/burst_ledger.h"
#include "tools/lab/measure/job_samples.h"
#include "tools/lab/results/query.h"

namespace outrider::lab {

/// A push or a pull as the table `bursts` has it. Instants are of the generator's clock, except the
/// last.
struct ReportBurst {
  std::int64_t worker = 0;
  std::int64_t rtos = 0;
  std::optional<std::int64_t> due_ns{};
  std::optional<std::int64_t> start_ns{};
  std::optional<std::int64_t> ack_ns{};
  std::optional<std::int64_t> first_sent_ns{};
  std::optional<std::int64_t> delivered_ns{};
  std::optional<std::int64_t> queue_first_ns{};  ///< the switch's clock
  std::optional<BurstTimes> times{};             ///< only with attribution, if it was delivered
};

struct ReportIteration {
  std::int64_t job = 0;
  std::int64_t iteration = 0;
  std::vector<ReportBurst> bursts{};  ///< pushes
  std::vector<ReportBurst> pulls{};

  // Instants over all workers, as defined in docs/measurement.md.
  std::optional<std::int64_t> due_ns{};        ///< earliest
  std::optional<std::int64_t> start_ns{};      ///< earliest START, or due where there is none
  std::optional<std::int64_t> delivered_ns{};  ///< latest, if every worker's was
};

/// The bursts of a case's runs.
struct ReportRun {
  std::uint64_t seed = 0;
  std::int64_t skip_iterations = 0;  ///< first iterations that are not measured
  /// Number of workers of each job by the case's settings. A job that is not here, such as the
  /// second run of one with `arrivals`, has the workers of which there is a burst.
  std::vector<std::size_t> workers{};
  std::vector<ReportIteration> iterations{};
  std::int64_t switch_ahead_ns = 0;          ///< the switch's clock minus the generator's
  JobSamples alone_communication_seconds{};  ///< of the run without background
};

/// Fills `runs` with the bursts of some results.
/// @param runs       [in, out] by the index of their case; the caller sets `skip_iterations` and
///                   `workers`
/// @throws std::runtime_error with what is wrong with the table
void read_bursts(const ResultsReader& results, std::vector<ReportRun>& runs);

/// Returns the communication times of the complete iterations [s], in their order.
std::vector<double> communication_seconds(const std::vector<ReportIteration>& iterations);

}  // namespace outrider::lab
