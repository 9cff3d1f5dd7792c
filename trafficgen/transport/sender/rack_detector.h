#pragma once

#include "common/core/clock.h"
#include "trafficgen/transport/memory/rack.h"
#include "trafficgen/transport/sender/retransmission_timer.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sender/send_stream.h"

namespace outrider::tg {

/// Loss detection by time, RACK of RFC 8985: when losses are looked for, and how wide the
/// reordering window is over all flights. Rack judges the segments of one. Not thread-safe.
class RackDetector {
 public:
  /// RFC 8985, 6.2, steps 3 and 4. @param duplicate the ACK reports one (D-SACK)
  void on_ack(Flight& flight, bool duplicate, const SendStream& stream) noexcept {
    if (flight.rack.reordered()) memory_.seen = true;
    if (duplicate) flight.rack.on_duplicate_reported(stream.una(), stream.nxt(), memory_);
  }
  void on_recovery_end() noexcept { Rack::on_recovery_end(memory_); }

  /// Step 5, and the reordering timer. @pre something is, or was just, in flight
  /// @return was a retransmission lost that left after the last reduction?
  [[nodiscard]] bool detect(Scoreboard& scoreboard, RetransmissionTimer& timer, bool recovering,
                            Time now) noexcept;
  /// RFC 8985, 6.3: the RTO has expired.
  void on_timeout(Scoreboard& scoreboard, RetransmissionTimer& timer, bool recovering,
                  Time now) noexcept;

 private:
  [[nodiscard]] Duration window(const Scoreboard& scoreboard, bool recovering,
                                Duration srtt) const noexcept {
    return scoreboard.flight()->rack.reorder_window(memory_, recovering, scoreboard.sacked(), srtt);
  }

  ReorderMemory memory_;
};

}  // namespace outrider::tg
