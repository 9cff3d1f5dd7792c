#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "common/dpdk/control_thread.h"
#include "common/telemetry/live_view.h"
#include "switch/report/snapshots.h"

namespace outrider {

/// Figures of the process: rates of packets and bytes, and what else ever happened.
std::vector<LiveFigure> live_figures(const SwitchReport& before, const SwitchReport& now);

/// Figures of one queue; `before` is the same queue's.
std::vector<LiveFigure> live_figures(const QueueReport& before, const QueueReport& now);

/// The view in a terminal: the process, then a row for each queue that a packet ever came
/// to. Pure.
std::vector<std::string> live_table(const SwitchReport& before, const SwitchReport& now);
/// The view elsewhere: a line for the process, then an indented one for each such queue.
std::string live_lines(const SwitchReport& before, const SwitchReport& now);

/// Shows once a second what the owners hand out, from a thread of its own.
class SwitchLiveView {
 public:
  /// @param out,snapshots must outlive the view. @throws DpdkError
  SwitchLiveView(std::ostream& out, bool terminal, const SwitchSnapshots& snapshots)
      : view_(out, terminal),
        snapshots_(snapshots),
        thread_(
            std::make_unique<ControlThread>("live", std::chrono::seconds(1), [this] { show(); })) {}

  /// The loop has ended: shows what happened since the last time.
  void finish() {
    thread_.reset();
    show();
  }

 private:
  void show();

  LiveView view_;
  const SwitchSnapshots& snapshots_;
  SwitchReport shown_;
  std::unique_ptr<ControlThread> thread_;  ///< last: ends before what it uses
};

}  // namespace outrider
