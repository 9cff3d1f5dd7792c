#pragma once

#include <chrono>
#include <memory>
#include <ostream>
#include <string>

#include "common/core/clock.h"
#include "common/core/snapshot_cell.h"
#include "common/dpdk/control_thread.h"
#include "common/telemetry/live_view.h"

namespace outrider {

/// Shows once a second what an lcore publishes, from a thread of its own. Rates are
/// those between two snapshots, by the run's own time.
///
/// publish(): the lcore, while the loop runs; never waits. Everything else: the
/// thread that made it.
///
/// @tparam Snapshot trivially copyable, with `std::int64_t at_ns` since the run
///         began, and live_figures(before, now) beside it
template <class Snapshot>
class LiveReport {
 public:
  /// @param out must outlive the report. @param terminal it understands ANSI sequences
  /// @throws DpdkError
  LiveReport(std::ostream& out, bool terminal)
      : view_(out, terminal),
        thread_(std::make_unique<ControlThread>("live", std::chrono::seconds(1),
                                                [this] { show(cell_.read()); })) {}

  void publish(const Snapshot& snapshot) noexcept { cell_.write(snapshot); }

  /// The loop has ended: shows what happened since the last line.
  void finish(const Snapshot& last) {
    thread_.reset();
    show(last);
  }

 private:
  void show(const Snapshot& now) {
    // A loop that did not come round has nothing new to say.
    if (now.at_ns <= shown_.at_ns) return;
    const double interval_s = static_cast<double>(now.at_ns - shown_.at_ns) / 1e9;
    view_.show(static_cast<double>(now.at_ns) / 1e9, interval_s, live_figures(shown_, now));
    shown_ = now;
  }

  SnapshotCell<Snapshot> cell_;
  Snapshot shown_{};
  LiveView view_;
  std::unique_ptr<ControlThread> thread_;  ///< last: ends before what it uses
};

}  // namespace outrider
