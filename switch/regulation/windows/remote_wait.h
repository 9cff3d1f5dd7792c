#pragma once

#include <algorithm>
#include <optional>

#include "common/core/clock.h"
#include "switch/regulation/windows/window_flow.h"
#include "switch/regulation/windows/window_path.h"

namespace outrider {

/// Measures how long packets wait in a queue further on: the shortest time by which answers of the
/// last round trip or two came later than they ever did. One late answer may be the receiver's own
/// delay; all of them are the queue's. O(1). Not thread-safe.
class RemoteWait {
 public:
  /// Takes over what the flow's latest answer says, if it was timed. @param rtt_ns  mean round trip
  void note(const WindowFlow& f, double rtt_ns, Time now) noexcept {
    if (f.sampled_at != now || !f.down) return;
    const Duration wait = f.down_sample - *f.down;
    if (now - began_ >= round_trips(1, rtt_ns)) {
      last_ = now_;
      now_.reset();
      began_ = now;
    }
    now_ = now_ ? std::min(*now_, wait) : wait;
  }
  /// Returns the time that a packet waits; zero if that is not known.
  [[nodiscard]] Duration shortest(double rtt_ns, Time now) const noexcept {
    if (now - began_ >= round_trips(kMemory_rtts, rtt_ns)) return Duration::zero();
    const Duration wait = std::min(last_.value_or(Duration::max()), now_.value_or(Duration::max()));
    return wait == Duration::max() ? Duration::zero() : wait;
  }

 private:
  /// Answers of a held flow are timed once per round trip, queueing included. What was measured
  /// longer ago says nothing of the queue.
  static constexpr double kMemory_rtts = 4;

  Time began_{};
  std::optional<Duration> last_, now_;  ///< in the round trip before and in this one
};

}  // namespace outrider
