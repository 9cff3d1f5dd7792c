#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"
#include "trafficgen/transport/memory/flight.h"
#include "trafficgen/transport/sender/send_stream.h"

namespace outrider::tg {

/// Tracks how much of its window a sender uses, as Linux does: whether the window was full in the
/// last round trip, and else the most that was outstanding. A window that is not used says nothing
/// of the path: it does not grow, except in slow start to twice what was outstanding, and it falls
/// when it was not needed for an RTO. The Flight keeps what belongs to a round trip.
///
/// Source: RFC 2861 as in Linux 6.1 (tcp_cwnd_validate(), tcp_is_cwnd_limited(),
/// tcp_cwnd_application_limited()), in bytes instead of segments. Not thread-safe, O(1).
class WindowValidation {
 public:
  struct Window {
    std::uint32_t cwnd_bytes;
    bool slow_start;  ///< cwnd < ssthresh
  };

  /// Returns true if the window is needed: it may grow.
  [[nodiscard]] static bool needed(const Flight& flight, Window window) noexcept {
    return flight.window_full ||
           (window.slow_start && window.cwnd_bytes / 2 < flight.most_outstanding_bytes);
  }
  /// Notes that new data has left. @param full it fills the window
  void on_sent(bool full, const SendStream& stream, Window window, Flight& flight,
               Time now) noexcept {
    const auto outstanding = static_cast<std::uint32_t>(stream.nxt() - stream.una());
    if (full || stream.una() >= flight.window_full_until ||
        (!flight.window_full && outstanding > flight.most_outstanding_bytes)) {
      flight.window_full = full;
      flight.most_outstanding_bytes = outstanding;
      flight.window_full_until = stream.nxt();
    }
    if (needed(flight, window)) restart(now);
    else used_bytes_ = std::max(used_bytes_, outstanding);
  }
  /// Begins to watch anew: the window was needed, or it has just been decided on.
  void restart(Time now) noexcept {
    used_bytes_ = 0;
    needed_at_ = now;
  }
  /// Returns how long the window was not needed.
  [[nodiscard]] Duration unneeded_for(Time now) const noexcept { return now - needed_at_; }
  /// Returns the most that was outstanding in that time [bytes].
  [[nodiscard]] std::uint32_t used_bytes() const noexcept { return used_bytes_; }

 private:
  Time needed_at_{};
  std::uint32_t used_bytes_ = 0;
};

}  // namespace outrider::tg
