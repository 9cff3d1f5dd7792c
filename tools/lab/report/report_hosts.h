#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/lab/report/report_data.h"
#include "tools/lab/report/report_views.h"

namespace outrider::lab {

/// Collects what hosts, the measured queue and background did around single iterations of an arm:
/// of each job the iteration of median communication time, the slowest one, and the first that is
/// not complete, all of the arm's first run that has any.
class HostLines {
 public:
  /// @param arms,runs  must outlive the object
  HostLines(const std::vector<ArmSummary>& arms, const std::vector<ReportRun>& runs,
            std::int64_t rtt_ns);

  /// Adds a bin of full resolution. @param run  index of the case
  void add(std::size_t run, const QueueBinValues& bin);

  /// Returns null for an arm without iterations, else
  ///
  ///   seed, highest_threshold [packets] of the run's bins; null if one had no threshold, or none
  ///   was recorded,
  ///   background_mbit (mean goodput of the run) or null, regulated_share (of the run) or null,
  ///   jobs[] of {name, workers, servers},
  ///   windows[] of {why[] of "median", "slowest", "incomplete", job, iteration,
  ///     from_ms, step_ms, cells (of the series; zero is the iteration's earliest gradients ready),
  ///     queue[], threshold[], background[] (Mbit/s), left_out (bursts),
  ///     bursts[] of [job, iteration, worker, 1 push or 0 pull, due, START, ACK, first sent,
  ///     delivered, RTOs]: all that were under way then, instants in ms from zero}
  [[nodiscard]] ReportJson json(const ResultsReader& results, std::size_t arm) const;

 private:
  struct Window {
    std::vector<const char*> why;
    const ReportIteration* iteration;
    TimeGrid grid;
    std::vector<AlignedSeries> series;  ///< queue, threshold, background
  };
  struct Line {
    std::size_t run = 0;
    std::optional<double> highest_threshold{};
    bool no_threshold = false;  ///< a bin had none, which is the highest of all
    std::vector<Window> windows{};
  };

  void choose(Line& line, std::int64_t job, std::int64_t rtt_ns);
  void add_window(Line& line, const ReportIteration& iteration, const char* why,
                  std::int64_t rtt_ns);
  [[nodiscard]] ReportJson window_json(const Line& line, const Window& window) const;

  const std::vector<ReportRun>& runs_;
  std::vector<Line> lines_;           ///< [arms]
  std::vector<std::size_t> line_of_;  ///< [runs] the arm whose line has the run, or none
};

}  // namespace outrider::lab
