#pragma once

#include <algorithm>

#include "common/core/clock.h"

namespace outrider {

/// What a flow is owed of a floor rate, counted where it is promised: in what *leaves* the
/// queue. Data that reach the queue pay for the time up to which the flow has had its rate
/// by then; how long they wait is known, so a queue that grows or shrinks cannot take the
/// floor away unseen.
///
/// Bounded both ways by a round trip: what a flow sent beyond its floor is not counted
/// against it for longer, nor is it given later what it had no data for.
///
/// Not thread-safe.
class FloorLine {
 public:
  /// The flow has a round trip's worth on its way. @param departs when what enters now leaves
  void begin(Time departs, Duration round) noexcept { paid_to_ = departs + round; }
  /// New payload reaches the queue. @param rate of the floor [bytes per ns], > 0
  /// @param departs when it will leave; @param round a round trip, queueing included
  void pay(double bytes, double rate, Time departs, Duration round) noexcept {
    const Duration time{static_cast<Duration::rep>(bytes / rate)};
    paid_to_ = std::min(std::max(paid_to_, departs - round) + time, departs + round);
  }
  /// What has to leave until `until` beyond all that has reached the queue [bytes].
  /// @param most the longest time that is owed for
  [[nodiscard]] double owed_bytes(double rate, Time until, Duration most) const noexcept {
    const Duration late = std::clamp(until - paid_to_, Duration::zero(), most);
    return rate * static_cast<double>(late.count());
  }

 private:
  Time paid_to_{};  ///< of departures
};

}  // namespace outrider
