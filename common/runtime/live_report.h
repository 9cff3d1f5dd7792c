#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <utility>

#include "common/core/clock.h"
#include "common/core/snapshot_cell.h"
#include "common/dpdk/eal/control_thread.h"
#include "common/telemetry/live_view.h"

namespace outrider {

/// Returns when a snapshot was taken, since the run began [ns].
template <class Snapshot>
requires requires(const Snapshot& s) { s.at_ns; }
[[nodiscard]] std::int64_t live_at_ns(const Snapshot& snapshot) noexcept { return snapshot.at_ns; }

/// Shows the figures of a snapshot whose type has a live_figures(before, now).
template <class Snapshot>
requires requires(const Snapshot& s) { live_figures(s, s); }
void show_live(LiveView& view, const Snapshot& before, const Snapshot& now) {
  const double interval_s = static_cast<double>(live_at_ns(now) - live_at_ns(before)) / 1e9;
  view.show(static_cast<double>(live_at_ns(now)) / 1e9, interval_s, live_figures(before, now));
}

/// Shows once a second, on its own thread, the state of a running program as `read` returns it,
/// and the change since the last time.
///
/// @tparam State has its own live_at_ns() and show_live()
template <class State>
class LiveThread {
 public:
  /// @param out must outlive it. @param terminal whether `out` understands ANSI sequences
  /// @param read  called by the thread
  /// @throws DpdkError
  LiveThread(std::ostream& out, bool terminal, std::function<State()> read)
      : view_(out, terminal),
        thread_(std::make_unique<ControlThread>(
            "live", std::chrono::seconds(1), [this, read = std::move(read)] { show(read()); })) {}

  /// Ends the thread and shows what has happened since the last time.
  void finish(State last) {
    thread_.reset();
    show(std::move(last));
  }

 private:
  void show(State now) {
    // A loop that has not published since the last time has nothing new to show.
    if (live_at_ns(now) <= live_at_ns(shown_)) return;
    show_live(view_, shown_, now);
    shown_ = std::move(now);
  }

  LiveView view_;
  State shown_{};
  std::unique_ptr<ControlThread> thread_;  ///< last member, so that it ends before what it uses
};

/// Shows what an lcore publishes. Rates are computed between two snapshots, in the run's own
/// time.
///
/// publish(): called by the lcore while the loop runs; never waits. All else: called by the
/// thread that constructed it.
///
/// @tparam Snapshot trivially copyable
template <class Snapshot>
class LiveReport {
 public:
  LiveReport(std::ostream& out, bool terminal)
      : thread_(out, terminal, [this] { return cell_.read(); }) {}

  void publish(const Snapshot& snapshot) noexcept { cell_.write(snapshot); }
  void finish(const Snapshot& last) { thread_.finish(last); }

 private:
  SnapshotCell<Snapshot> cell_;
  LiveThread<Snapshot> thread_;
};

}  // namespace outrider
