#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "switch/report/report.h"
#include "tools/lab/experiment/case.h"
#include "trafficgen/report/report.h"

namespace outrider::lab {

/// What one run left behind.
struct RunResult {
  sw::SwitchReport switches;
  tg::GeneratorReport traffic;
  std::uint64_t mbufs_leaked = 0;  ///< in use after everything was released; part of the ledger
  bool interrupted = false;
};

/// One case and what its runs left behind, whole or interrupted.
struct CaseRun {
  const Case* definition = nullptr;  ///< never null, outlives the CaseRun
  RunResult result;
  std::optional<RunResult> alone{};  ///< the same case without background, if it was run
  std::string switch_toml{};         ///< resolved configurations, for the bundle
  std::string traffic_toml{};
};

/// Frees what neither summarise() nor write_bundle() reads: the time series of
/// other queues, and those of the run alone. An experiment of hundreds of runs
/// should call it as each of them ends.
void trim(CaseRun& run);

/// The measured queue of a report, or nullptr if it is not there.
const sw::QueueReport* find_queue(const sw::SwitchReport& report,
                                  const std::string& switch_dot_port);

}  // namespace outrider::lab
