#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/sender/loss_recovery.h"
#include "trafficgen/transport/sender/rack_detector.h"
#include "trafficgen/transport/sender/send_state.h"

namespace outrider::tg {

/// Decides what signs of congestion do to a sender: losses, found by SACK, by duplicate ACKs or by
/// time, the answer to a tail loss probe, ECE, and time-outs. It begins and ends recoveries, and
/// reduces the window once for each window of data. Not thread-safe.
///
/// Sources: RFC 6675, RFC 6582, RFC 8985, RFC 3168, 6.1.2, RFC 6298, RFC 9937.
class LossResponse {
 public:
  [[nodiscard]] LossRecovery& recovery() noexcept { return recovery_; }
  [[nodiscard]] const LossRecovery& recovery() const noexcept { return recovery_; }
  void begin_flight(SendState& state, Flight& flight) const noexcept {
    state.window.begin_flight(flight, state.stream.una());
    recovery_.begin_flight(flight, state.stream.una());
    state.tail_probe.begin_flight(flight, state.stream.una());
  }
  /// Everything is acknowledged: remembers what is needed of the flight, and gives it back.
  [[gnu::noinline]] void end_flight(SendState& state) noexcept;
  [[gnu::noinline]] void arm_tail_probe(SendState& state, Time now) noexcept;

  // -- the steps of an acknowledgment, in this order
  /// @param una_before before this ACK, @param duplicate it repeats the last one (RFC 5681, 2)
  /// @param departed Flight::departed before this ACK; the pipe does not contain it now
  /// @return by how much `departed` has grown; negative if the ACK covers what had departed before
  [[gnu::noinline]] std::int64_t on_ack_without_sack(SendState& state, std::uint64_t una_before,
                                                     bool duplicate,
                                                     std::uint32_t departed) noexcept;
  /// @param duplicate the ACK reports a duplicate (D-SACK)
  [[gnu::noinline]] void on_rack_ack(SendState& state, bool duplicate, Time now) noexcept;
  /// Ends a recovery whose data is all acknowledged.
  void end_recovery(const SendState& state) noexcept {
    if (recovery_.open() ||
        LossRecovery::below_point(state.scoreboard.flight(), state.stream.una())) [[likely]]
      return;
    rack_.on_recovery_end();
    recovery_.end();
  }
  /// Enters recovery if a segment was found lost. @param base of a reduction, see
  /// CongestionWindow::reduction_base_bytes(), before this ACK took effect
  void begin_recovery(SendState& state, std::uint32_t base, Time now) noexcept {
    if (recovery_.open() && (state.scoreboard.lost_pending() != 0 || state.scoreboard.head_lost()))
      enter_recovery(state, base, now);
  }
  [[gnu::noinline]] void obey_ece(SendState& state, std::uint32_t base, Time now) noexcept;
  /// @param ack stream offset
  [[gnu::noinline]] void take_probe_answer(SendState& state, const TcpSegment& s, std::int64_t ack,
                                           bool advances, bool duplicate, std::uint32_t base,
                                           Time now) noexcept;
  /// @param delivered bytes that this ACK reports as arrived
  void update_window(SendState& state, std::int64_t delivered, bool advances) noexcept {
    if (state.window.reducing()) [[unlikely]]
      take_step(state, delivered, advances);
    else state.window.update();
  }

  // -- time
  /// @return false if the RTO has expired instead of the auxiliary timer
  [[nodiscard]] bool on_aux_timer(SendState& state, Time now) noexcept;
  void on_timeout(SendState& state, Time now) noexcept;

 private:
  void detect_losses_by_time(SendState& state, Time now) noexcept;
  void reduce(SendState& state, CongestionWindow::Cause cause, std::uint32_t base,
              Time now) noexcept;
  [[gnu::noinline]] void enter_recovery(SendState& state, std::uint32_t base, Time now) noexcept;
  [[gnu::noinline]] void take_step(SendState& state, std::int64_t delivered,
                                   bool advances) noexcept;

  LossRecovery recovery_;
  RackDetector rack_;
};

}  // namespace outrider::tg
