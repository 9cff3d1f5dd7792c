#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switch/report/report.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/link_report.h"
#include "tools/lab/simulation/port_packets.h"
#include "trafficgen/report/report.h"

namespace outrider::lab {

/// Counts the objects that have it as a member, so that a test can tell how many results a session
/// keeps in memory. One thread owns all results of a process.
class LiveCount {
 public:
  LiveCount() noexcept { ++alive; }
  LiveCount(const LiveCount&) noexcept { ++alive; }
  LiveCount& operator=(const LiveCount&) noexcept = default;
  ~LiveCount() { --alive; }
  [[nodiscard]] static std::size_t live() noexcept { return alive; }

 private:
  static inline std::size_t alive = 0;
};

/// The reports of one run. They may take megabytes: a session reads them one run at a time.
struct RunResult {
  sw::SwitchReport switches;
  tg::GeneratorReport traffic;
  std::uint64_t mbufs_leaked = 0;  ///< still in use after everything was released; in the ledger
  bool interrupted = false;
  LinkSlices slices{};                 ///< until trim(), of cases with link_series
  std::optional<LinkResults> links{};  ///< from trim() on, of cases with link_results
  std::vector<PortPackets> captures{};
  LiveCount counted{};
};

/// One case and the results of its runs, complete or interrupted.
struct CaseRun {
  const Case* definition = nullptr;  ///< never null, outlives the CaseRun
  RunResult result;
  std::optional<RunResult> alone{};  ///< the same case without background, if it was run
  /// The iterations of each job without the other jobs and background, if that was run [s]
  std::vector<std::vector<double>> jobs_alone{};
  std::string switch_toml{};  ///< resolved configurations, for the bundle
  std::string traffic_toml{};
};

/// Takes the results of links from a run, if its case wants them, and frees data that neither
/// digest() nor write_bundle() reads: the records and time series of other queues and those of the
/// run without background. So they are not stored either.
void trim(CaseRun& run);

/// Says whether the case keeps the series of a queue because the experiment wants to see it.
bool is_observed(const Case& definition, const sw::QueueReport& queue);

/// Returns the queue in which packets of bursts waited longest, all taken together; the first one
/// of several. nullptr if no queue has records of bursts, as over RoCEv2.
const sw::QueueReport* worst_queue(const sw::SwitchReport& report);

/// Returns the measured queue of a report, or nullptr if the report does not have it.
/// @param switch_dot_port  Case::measured_queue
const sw::QueueReport* find_queue(const sw::SwitchReport& report,
                                  const std::string& switch_dot_port);

}  // namespace outrider::lab
