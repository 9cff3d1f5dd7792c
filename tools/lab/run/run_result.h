#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "switch/report/report.h"
#include "tools/lab/experiment/case.h"
#include "trafficgen/report/report.h"

namespace outrider::lab {

/// The reports of one run.
struct RunResult {
  sw::SwitchReport switches;
  tg::GeneratorReport traffic;
  std::uint64_t mbufs_leaked = 0;  ///< still in use after everything was released; in the ledger
  bool interrupted = false;
};

/// One case and the results of its runs, complete or interrupted.
struct CaseRun {
  const Case* definition = nullptr;  ///< never null, outlives the CaseRun
  RunResult result;
  std::optional<RunResult> alone{};  ///< the same case without background, if it was run
  std::string switch_toml{};         ///< resolved configurations, for the bundle
  std::string traffic_toml{};
};

/// Frees data that neither summarise() nor write_bundle() reads: the time series of
/// other queues and those of the run without background. An experiment of hundreds of
/// runs should call it as each run ends.
void trim(CaseRun& run);

/// Returns the measured queue of a report, or nullptr if the report does not have it.
const sw::QueueReport* find_queue(const sw::SwitchReport& report,
                                  const std::string& switch_dot_port);

}  // namespace outrider::lab
