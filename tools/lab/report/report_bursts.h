#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/lab/report/report_csv.h"

namespace outrider::lab {

/// A push as bursts.csv has it; instants of the generator's clock, but for the last.
struct ReportBurst {
  std::int64_t worker = 0;
  std::int64_t rtos = 0;
  std::optional<std::int64_t> due_ns{};
  std::optional<std::int64_t> start_ns{};
  std::optional<std::int64_t> ack_ns{};
  std::optional<std::int64_t> first_sent_ns{};
  std::optional<std::int64_t> delivered_ns{};
  std::optional<std::int64_t> queue_first_ns{};  ///< the switch's clock
};

struct ReportIteration {
  std::int64_t job = 0;
  std::int64_t iteration = 0;
  std::vector<ReportBurst> bursts{};

  // Of all workers, as in docs/measurement.md.
  std::optional<std::int64_t> due_ns{};        ///< earliest
  std::optional<std::int64_t> start_ns{};      ///< earliest START, or due where there is none
  std::optional<std::int64_t> delivered_ns{};  ///< latest, if every worker's was
};

/// What a case's runs tell about their bursts.
struct ReportRun {
  std::size_t workers = 1;           ///< of the job: an iteration needs so many
  std::int64_t skip_iterations = 0;  ///< these are not measured
  std::vector<ReportIteration> iterations{};
  std::int64_t switch_ahead_ns = 0;  ///< clock of the switch less that of the generator
  std::vector<double> alone_communication_seconds{};  ///< of the run without background
};

/// Fills in what bursts.csv has of each run. @param runs by the index of their case; members
/// of the first two lines are given. @param one_clock  virtual time: nothing is ahead
/// @throws std::runtime_error naming the file and what is wrong with it
void read_bursts(CsvReader& csv, bool one_clock, std::vector<ReportRun>& runs);

/// @return communication times of the complete iterations [s], in their order
std::vector<double> communication_seconds(const std::vector<ReportIteration>& iterations);

}  // namespace outrider::lab
