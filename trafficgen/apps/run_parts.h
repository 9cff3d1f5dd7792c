#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/core/snapshot_cell.h"
#include "trafficgen/background/capture_report.h"
#include "trafficgen/background/flow_report.h"
#include "trafficgen/background/request_report.h"
#include "trafficgen/hosts/host_counters.h"
#include "trafficgen/measure/flow_totals.h"
#include "trafficgen/measure/job_report.h"

namespace outrider::tg {

/// How many parts of one kind are shown one by one. If a run has more, none of that kind is: sums
/// over a few of them would look like sums over all. The counts of the process have them all.
inline constexpr std::size_t kMostShownParts = 256;

/// The counts of each part of one kind, such as hosts, for control threads. The lcore that owns a
/// part publishes its counts, and never waits; any thread may read.
template <class Counts>
class PartCells {
 public:
  /// Call it before the lcores run, as often as you like, with the same size.
  void resize(std::size_t parts) {
    parts_ = parts;
    if (parts <= kMostShownParts) cells_.resize(parts), names_.resize(parts);
  }
  void name(std::size_t part, const std::string& name) {
    if (part < names_.size()) names_[part] = name;
  }
  [[nodiscard]] bool shown() const noexcept { return !cells_.empty(); }
  /// Returns whether there are parts, and too many.
  [[nodiscard]] bool too_many() const noexcept { return parts_ > kMostShownParts; }

  /// @pre shown()
  void publish(std::size_t part, const Counts& counts) noexcept { cells_[part].write(counts); }
  template <class Act>
  void for_each(Act act) const {
    for (std::size_t i = 0; i < cells_.size(); ++i) act(names_[i], cells_[i].read());
  }

 private:
  std::size_t parts_ = 0;
  std::vector<std::string> names_;
  std::deque<SnapshotCell<Counts>> cells_;
};

/// What a run with hosts counts of each of its parts.
struct RunParts {
  PartCells<HostCounters> hosts;
  PartCells<JobLive> jobs;
  PartCells<FlowCounts> flows;
  PartCells<FlowGroupCounts> flow_groups;
  PartCells<RequestCounts> requests;
  PartCells<CaptureCounts> captures;

  /// Calls `act(kind, cells)` for each kind, which is called as in metrics and labels.
  template <class Parts, class Act>
  static void for_each_kind(Parts& parts, Act act) {
    act("host", parts.hosts);
    act("job", parts.jobs);
    act("flow", parts.flows);
    act("flow_group", parts.flow_groups);
    act("request", parts.requests);
    act("capture", parts.captures);
  }
};

}  // namespace outrider::tg
