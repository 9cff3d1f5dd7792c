#pragma once

#include "common/core/clock.h"
#include "trafficgen/transport/memory/rack.h"
#include "trafficgen/transport/sender/retransmission_timer.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sender/send_stream.h"

namespace outrider::tg {

/// Detects losses by time, with RACK of RFC 8985. It decides when to look for losses and keeps the
/// reordering window across flights. Rack judges the segments of one flight. Not thread-safe.
class RackDetector {
 public:
  /// Applies RFC 8985, 6.2, steps 3 and 4. @param duplicate the ACK reports a duplicate (D-SACK)
  void on_ack(Flight& flight, bool duplicate, const SendStream& stream) noexcept {
    if (flight.rack.reordered()) memory_.seen = true;
    if (duplicate) flight.rack.on_duplicate_reported(stream.una(), stream.nxt(), memory_);
  }
  void on_recovery_end() noexcept { Rack::on_recovery_end(memory_); }

  /// Applies step 5 and sets the reordering timer. @pre something is, or was just, in flight
  /// @return true if a retransmission was lost that left after the last reduction
  [[nodiscard]] bool detect(Scoreboard& scoreboard, RetransmissionTimer& timer, bool recovering,
                            Time now) noexcept;
  /// Marks losses when the RTO has expired (RFC 8985, 6.3).
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
