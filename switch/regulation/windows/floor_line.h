#pragma once

#include <algorithm>
#include <cassert>

#include "common/core/clock.h"

namespace outrider {

/// Computes what a flow is owed of its floor rate, counted in data that *leave* the queue,
/// which is where the floor is promised. Data that reach the queue advance the time up to
/// which the flow has had its rate. Their departure time is known, so a queue that grows or
/// shrinks cannot take the floor away unnoticed.
///
/// Both directions are bounded by one round trip: what a flow sent beyond its floor counts
/// against it no longer than that, and it is owed no more than that when it had no data.
///
/// Not thread-safe.
class FloorLine {
 public:
  /// Starts with a round trip's worth on its way. @param departs when what enters now leaves
  void begin(Time departs, Duration round) noexcept { paid_to_ = departs + round; }
  /// Accounts new payload that reaches the queue. @param rate of the floor [bytes per ns], > 0
  /// @param departs when it will leave; @param round a round trip, queueing included
  void pay(double bytes, double rate, Time departs, Duration round) noexcept {
    assert(rate > 0);
    const Duration time{static_cast<Duration::rep>(bytes / rate)};
    paid_to_ = std::min(std::max(paid_to_, departs - round) + time, departs + round);
  }
  /// Returns what has to leave until `until` beyond all that has reached the queue [bytes].
  /// @param most the longest time that may be owed
  [[nodiscard]] double owed_bytes(double rate, Time until, Duration most) const noexcept {
    const Duration late = std::clamp(until - paid_to_, Duration::zero(), most);
    return rate * static_cast<double>(late.count());
  }

 private:
  Time paid_to_{};  ///< departure time up to which the flow has had its rate
};

}  // namespace outrider
