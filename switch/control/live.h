#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/telemetry/live_view.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// Figures of the process: rates of packets and bytes, and what else ever happened.
std::vector<LiveFigure> live_figures(const SwitchReport& before, const SwitchReport& now);

/// Figures of one queue; `before` is the same queue's.
std::vector<LiveFigure> live_figures(const QueueReport& before, const QueueReport& now);

/// The view in a terminal: the process, then a row for each queue that a packet ever came
/// to. Pure.
std::vector<std::string> live_table(const SwitchReport& before, const SwitchReport& now);
/// The view elsewhere: a line for the process, then an indented one for each such queue.
std::string live_lines(const SwitchReport& before, const SwitchReport& now);

// For LiveThread: what the owners hand out.
[[nodiscard]] inline std::int64_t live_at_ns(const SwitchReport& report) noexcept {
  return report.end_ns;
}
void show_live(LiveView& view, const SwitchReport& before, const SwitchReport& now);

}  // namespace outrider::sw
