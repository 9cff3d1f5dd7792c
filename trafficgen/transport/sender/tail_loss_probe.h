#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/sender/retransmission_timer.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sender/send_stream.h"

namespace outrider::tg {

/// Decides when a tail loss probe is due, and what the answer to it means: TLP of RFC 8985, section
/// 7. The Flight keeps the probe that is out. Without a Flight, only one bit is kept: whether a
/// probe by resending ended at the oldest byte that may leave. Not thread-safe.
class TailLossProbe {
 public:
  /// Returns true if a probe must leave, whatever the window.
  [[nodiscard]] bool due() const noexcept { return due_; }
  void on_timer() noexcept { due_ = true; }
  /// Cancels the probe because something has arrived.
  void cancel() noexcept { due_ = false; }
  /// A round trip was measured.
  void on_sample() noexcept { spent_ = false; }

  /// What a probe waits for beyond two round trips.
  struct Slack {
    Duration of_one{};      ///< of a lone segment, whose ACK may be delayed
    Duration of_several{};  ///< of more
  };

  /// Arms the probe in place of an RTO that would come later (7.2). @pre something is in flight
  void arm(const Scoreboard& scoreboard, Flight& flight, RetransmissionTimer& timer,
           bool recovering, const Slack& slack, Time now) const noexcept;
  /// Notes that the probe leaves (7.3). @param nxt after the probe, @param fresh it carries new
  /// data
  void on_sent(Flight& flight, std::uint64_t nxt, bool fresh) const noexcept {
    flight.probe_end = nxt;
    flight.probe_resent = !fresh;
  }
  /// Notes that a probe is being sent; no other one leaves until a round trip was measured.
  void spend() noexcept {
    due_ = false;
    spent_ = true;
  }
  /// Forgets the probe that is out, because recovery or a reduction begins or the RTO has expired
  /// (7.1, TLP_init()): its answer is no second sign of the same congestion. Marks count as in
  /// Linux 6.1, tcp_init_cwnd_reduction(). @param flight nullptr if there is none
  void forget(Flight* flight) noexcept {
    if (flight != nullptr) flight->probe_end = 0;
    ended_here_ = false;
  }
  /// Evaluates an ACK (7.4). @param flight nullptr if there is none, @param ack stream offset
  /// @param advances una has moved, @param duplicate the ACK reports a duplicate (D-SACK)
  /// @return true if the probe has repaired a loss, which is a sign of congestion
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
