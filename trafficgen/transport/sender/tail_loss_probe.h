#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/sender/retransmission_timer.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sender/send_stream.h"

namespace outrider::tg {

/// Tail loss probes, TLP of RFC 8985, section 7: when one is due, and what its answer means.
/// The one that is out is kept in the Flight; while there is none, only whether the oldest
/// byte that may leave is where a probe by resending ended. Not thread-safe.
class TailLossProbe {
 public:
  /// One is to leave, whatever the window.
  [[nodiscard]] bool due() const noexcept { return due_; }
  void on_timer() noexcept { due_ = true; }
  /// Something has arrived: there is no need for it.
  void cancel() noexcept { due_ = false; }
  /// A round trip was measured.
  void on_sample() noexcept { spent_ = false; }

  /// 7.2: in place of an RTO that would come later. @pre something is in flight
  /// @param delayed_ack longest time for which the peer may keep an ACK
  void arm(const Scoreboard& scoreboard, Flight& flight, RetransmissionTimer& timer,
           bool recovering, Duration delayed_ack, Time now) const noexcept;
  /// 7.3: it leaves. @param nxt after it, @param fresh it carries new data
  void on_sent(Flight& flight, std::uint64_t nxt, bool fresh) const noexcept {
    flight.probe_end = nxt;
    flight.probe_resent = !fresh;
  }
  /// It is being sent, and no other one is until a round trip was measured.
  void spend() noexcept {
    due_ = false;
    spent_ = true;
  }
  /// 7.4. @param flight nullptr if there is none, @param ack stream offset
  /// @param advances una has moved, @param duplicate the ACK reports one (D-SACK)
  /// @return it has repaired a loss, which is a sign of congestion
  [[nodiscard]] bool take_answer(const TcpSegment& s, std::int64_t ack, bool advances,
                                 bool duplicate, const SendStream& stream, Flight* flight) noexcept;

  void begin_flight(Flight& flight, std::uint64_t una) const noexcept {
    flight.probe_end = ended_here_ ? una : 0;
    flight.probe_resent = ended_here_;
  }
  void end_flight(const Flight& flight, std::uint64_t una) noexcept {
    ended_here_ = flight.probe_end == una && flight.probe_resent && una != 0;
    due_ = false;
  }

 private:
  bool due_ : 1 = false;
  bool spent_ : 1 = false;       ///< no round trip was measured since the last one
  bool ended_here_ : 1 = false;  ///< nothing is in flight, una was probed by resending
};

}  // namespace outrider::tg
