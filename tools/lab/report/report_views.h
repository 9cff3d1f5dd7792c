#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tools/lab/report/report_data.h"
#include "tools/lab/report/report_series.h"
#include "tools/lab/results/query.h"

namespace outrider::lab {

/// The two grids on which iterations are aligned.
struct ReportViews {
  TimeGrid start;  ///< around the signal: zero is START (or due where there is none)
  TimeGrid due;    ///< around the whole burst: zero is the instant when gradients are ready
};

enum BinQuantity : std::uint8_t {
  kQueue,       ///< packets
  kThreshold,   ///< packets
  kBackground,  ///< goodput [bit/s]
  kDdl,         ///< goodput [bit/s]
  kBinQuantities
};

/// A bin of the table `queue`: the mean of each quantity over it, if it has one.
struct QueueBinValues {
  std::int64_t begin_ns = 0;  ///< the switch's clock
  std::int64_t length_ns = 0;
  std::array<std::optional<double>, kBinQuantities> values{};
  bool no_threshold = false;  ///< packets came, and no threshold was in force
};

/// Computes how the measured queue behaves over time around each iteration.
///
/// @param rtt_ns   base RTT, > 0
/// @param views    [out] the grids of each point
/// @param hear     called with each bin of full resolution and the index of its case
/// @return "views" of each arm; null if the table `queue` has nothing for the arm
std::vector<ReportJson> queue_views(
    const ResultsReader& results, const std::vector<ArmSummary>& arms,
    const std::vector<ReportRun>& runs, std::int64_t rtt_ns, std::vector<ReportViews>& views,
    const std::function<void(std::size_t, const QueueBinValues&)>& hear);

}  // namespace outrider::lab
