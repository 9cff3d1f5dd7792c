#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/telemetry/live_view.h"
#include "switch/report/report.h"
#include "switch/report/snapshots.h"

namespace outrider::sw {

/// Returns the figures of the process: rates of packets and bytes, and all counters that are
/// not zero.
std::vector<LiveFigure> live_figures(const SwitchReport& before, const SwitchReport& now);

/// Returns the figures of one queue; `before` is the earlier state of the same queue.
std::vector<LiveFigure> live_figures(const QueueReport& before, const QueueReport& now);

/// What the view shows of the process.
struct SwitchLive {
  SwitchReport report{};
  std::vector<PortRate> rates{};
};

/// Returns the view for a terminal: the process with its links, then a row for each queue that has
/// ever got a packet. Pure.
std::vector<std::string> live_table(const SwitchLive& before, const SwitchLive& now);
/// Returns the view for other outputs: a line for the process, then an indented line for each
/// such queue. Pure.
std::string live_lines(const SwitchLive& before, const SwitchLive& now);

// The two functions that LiveThread calls.

/// Returns the time of a report since the run began [ns].
[[nodiscard]] inline std::int64_t live_at_ns(const SwitchLive& live) noexcept {
  return live.report.end_ns;
}
/// Shows a report in the view, as a table or as lines.
void show_live(LiveView& view, const SwitchLive& before, const SwitchLive& now);

}  // namespace outrider::sw
