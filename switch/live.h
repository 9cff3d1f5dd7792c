#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/core/drop_reason.h"
#include "common/runtime/live_report.h"
#include "common/telemetry/live_view.h"

namespace outrider {

/// What the switches of a process have done so far, all ports and classes together,
/// as their lcore hands it out while it runs. Names and values are the report's.
struct SwitchLive {
  std::int64_t at_ns = 0;
  std::uint64_t received = 0;  ///< packets handed to any switch, each hop counts
  std::uint64_t copied = 0;    ///< by flooding
  std::uint64_t transmitted = 0;
  std::uint64_t transmitted_bytes = 0;  ///< frames without FCS
  std::uint64_t resident = 0;           ///< waiting in queues, now
  std::array<std::uint64_t, kDropReasons> drops{};
  std::array<std::uint64_t, kMarkReasons> marks{};
  std::uint64_t regulated = 0;  ///< entries that regulate a queue, now
};

/// Figures of one line: rates of packets and bytes, and what else ever happened.
std::vector<LiveFigure> live_figures(const SwitchLive& before, const SwitchLive& now);

using SwitchLiveReport = LiveReport<SwitchLive>;

}  // namespace outrider
