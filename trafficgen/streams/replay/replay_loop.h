#pragma once

#include <string>
#include <vector>

#include "common/runtime/poll_program.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/streams/replay/replay.h"

namespace outrider::tg {

/// The results of a replay. Frames, gaps and lateness are defined as for a stream.
struct ReplayReport {
  StreamReport sent;
  std::uint64_t frames = 0;  ///< of the file
  std::uint64_t padded = 0;
  std::uint64_t skipped = 0;
  std::uint64_t backwards = 0;
  RewriteCounts rewrites;
  std::uint64_t discarded = 0;  ///< packets received, and dropped, while it was full
  std::int64_t longest_poll_gap_ns = 0;
  bool interrupted = false;
};

struct ReplayProcess {
  std::string device;
  BitRate line_rate{};  ///< zero: not known
  std::uint32_t lcore = 1;
};

/// Opens the device and replays, until the end or a signal.
/// @throws UsageError, EnvironmentError
ReplayReport run_replay(const ReplayConfig& config, const LoadedReplay& loaded,
                        const ReplayProcess& process, const ProgramOptions& options,
                        std::vector<std::string> eal_extra);

std::string to_json(const ReplayReport& report, const ReplayConfig& config);
std::string to_text(const ReplayReport& report);

}  // namespace outrider::tg
