#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/span_log.h"

namespace outrider {

/// What a PauseGate is in front of.
struct BehindGate {
  Time waits_since{};      ///< of the first packet; now if none waits
  std::uint64_t left = 0;  ///< packets that have left
};

/// The sending side of priority flow control (PFC) for one priority of one transmitter: until when
/// the neighbour has paused it, for how long that was in total, and whether it has lasted too long.
///
/// The watchdog adds up pauses in which something waits, until a packet leaves: a gap between two
/// pauses in which none does ends nothing. After `watchdog` of it the caller calls break_out(): the
/// pause stands, but is no longer obeyed, and the caller drops what waits and what comes. Once the
/// neighbour's pause ends, by zero quanta or because it is not renewed, all is as before.
///
/// It decides and keeps account; the caller stops and drops. `now` does not decrease. O(1),
/// allocates nothing. Not thread-safe.
///
/// Source: IEEE 802.1Q, clause 36. The watchdog is that of switches (SONiC, Junos). Deviation: they
/// obey pauses again after a fixed time, we when the neighbour has ended the one that was too long.
class PauseGate {
 public:
  PauseGate() = default;  ///< without a watchdog
  explicit PauseGate(std::optional<Duration> watchdog) noexcept : watchdog_(watchdog) {}

  /// Keeps pauses, renewals included, in a log that outlives this.
  void record_in(SpanLog& log) noexcept { log_ = &log; }

  /// Hears of a pause that lasts for that time from now on. Zero ends the one in force.
  void on_frame(Duration pause, Time now, const BehindGate& behind = {}) noexcept {
    settle(now, behind);
    if (pause == Duration::zero()) return end(now, behind);
    if (!paused_) {
      since_ = now;
      if (behind.left != left_) stuck_for_ = Duration::zero();
      left_ = behind.left;
    }
    paused_ = true;
    until_ = now + pause;
  }
  /// Ends a pause whose time is over. Call it before asking what follows.
  void settle(Time now, const BehindGate& behind = {}) noexcept {
    if (paused_ && until_ <= now) end(until_, behind);
  }

  /// Returns whether the neighbour's pause is in force, obeyed or not.
  [[nodiscard]] bool paused() const noexcept { return paused_; }
  /// Returns whether nothing may leave.
  [[nodiscard]] bool closed() const noexcept { return paused_ && !broken_out_; }
  /// Returns whether a pause that was too long is still in force.
  [[nodiscard]] bool broken_out() const noexcept { return broken_out_; }
  /// Returns when the pause ends unless it is renewed; kNever if there is none.
  [[nodiscard]] Time until() const noexcept { return paused_ ? until_ : kNever; }
  /// Returns when the pause in force began.
  [[nodiscard]] std::optional<Time> since() const noexcept {
    return paused_ ? std::optional(since_) : std::nullopt;
  }

  /// Returns when the pause will have been too long for a packet that waits since then; kNever
  /// without a watchdog, or if nothing is stopped.
  [[nodiscard]] Time too_long_at(Time waits_since) const noexcept {
    if (!closed() || !watchdog_) return kNever;
    return std::max(since_, waits_since) + (*watchdog_ - std::min(*watchdog_, stuck_for_));
  }
  /// No longer obeys the pause in force. @pre closed()
  void break_out() noexcept {
    assert(closed());
    broken_out_ = true;
  }

  /// Returns for how long the neighbour has paused it, obeyed or not, until now.
  [[nodiscard]] Duration paused_for(Time now) const noexcept {
    return paused_ ? paused_for_ + (std::min(now, until_) - since_) : paused_for_;
  }

 private:
  void end(Time at, const BehindGate& behind) noexcept {
    if (!paused_) return;
    paused_for_ += at - since_;
    if (log_ != nullptr) log_->add(since_, at);
    const Time stuck_since = std::max(since_, behind.waits_since);
    if (broken_out_) stuck_for_ = Duration::zero();
    else if (stuck_since < at) stuck_for_ += at - stuck_since;
    paused_ = broken_out_ = false;
  }

  std::optional<Duration> watchdog_;
  Duration paused_for_{};   ///< without the pause in force
  Duration stuck_for_{};    ///< the part of it since `left_` in which something waited
  std::uint64_t left_ = 0;  ///< packets that had left when a pause last began
  Time since_{};            ///< begin of the pause in force, renewals included
  Time until_{};
  SpanLog* log_ = nullptr;
  bool paused_ = false;
  bool broken_out_ = false;
};

}  // namespace outrider
