#include "trafficgen/transport/sender/loss_response.h"

#include <algorithm>

namespace outrider::tg {

void LossResponse::end_flight(SendState& state) noexcept {
  const Flight* const flight = state.scoreboard.flight();
  if (flight == nullptr) return;
  state.window.end_flight(*flight, state.stream.una());
  recovery_.end_flight(*flight, state.stream.una());
  state.tail_probe.end_flight(*flight, state.stream.una());
  state.scoreboard.release(state.context.memory);
}

void LossResponse::arm_tail_probe(SendState& state, Time now) noexcept {
  // TCP_TIMEOUT_MIN of Linux 6.1, two jiffies at 250 Hz, in tcp_schedule_loss_probe(). Deviation:
  // no rounding to jiffies, which makes its timers up to 4 ms later or earlier.
  constexpr Duration kTwoTicks = std::chrono::milliseconds(8);
  const TcpConfig& c = state.context.config;
  const auto slack =
      c.tail_probe == TailProbe::kLinux
          ? TailLossProbe::Slack{.of_one = c.min_rto, .of_several = kTwoTicks}
          : TailLossProbe::Slack{.of_one = c.delayed_ack, .of_several = Duration::zero()};
  state.tail_probe.arm(state.scoreboard, *state.scoreboard.flight(), state.timer, !recovery_.open(),
                       slack, now);
}

// -- acknowledgments

std::int64_t LossResponse::on_ack_without_sack(SendState& state, std::uint64_t una_before,
                                               bool duplicate, std::uint32_t departed) noexcept {
  Scoreboard& scoreboard = state.scoreboard;
  if (scoreboard.empty()) return 0;
  const std::uint32_t mss_bytes = state.stream.mss_bytes();
  Flight& flight = *scoreboard.flight();
  NewReno::Verdict verdict{.departed = departed};
  if (const std::uint64_t una = state.stream.una(); una > una_before) {
    const bool partial = recovery_.fast() && LossRecovery::below_point(&flight, una);
    verdict = flight.newreno.on_advance(una - una_before, partial, departed, mss_bytes);
  } else if (duplicate && !recovery_.after_timeout()) {
    const bool fresh = LossRecovery::beyond_point(flight, una);
    verdict = flight.newreno.on_duplicate(recovery_.fast(), fresh, departed, mss_bytes);
  }
  if (verdict.first_lost && !scoreboard.head_lost()) {
    scoreboard.lose_head();
    recovery_.resend_first();
  }
  scoreboard.take_departed(verdict.departed);
  return std::int64_t{flight.departed} - departed;
}

void LossResponse::on_rack_ack(SendState& state, bool duplicate, Time now) noexcept {
  Flight* flight = state.scoreboard.flight();
  if (flight == nullptr) return;
  if (state.scoreboard.sacked() != 0) state.tail_probe.cancel();
  rack_.on_ack(*flight, duplicate, state.stream);
  detect_losses_by_time(state, now);
}

void LossResponse::take_probe_answer(SendState& state, const TcpSegment& s, std::int64_t ack,
                                     bool advances, bool duplicate, std::uint32_t base,
                                     Time now) noexcept {
  Flight* const f = state.scoreboard.flight();
  const bool repaired = state.tail_probe.take_answer(s, ack, advances, duplicate, state.stream, f);
  // At once, as in Linux: what was in flight before the probe is acknowledged.
  if (repaired && state.past_reduction() >= 0)
    state.window.reduce(CongestionWindow::Cause::kLoss, base, f, state.stream.nxt(), now);
  if (f != nullptr && advances && !state.scoreboard.empty()) arm_tail_probe(state, now);
}

/// A lost retransmission is a second sign of congestion (RFC 5681, 4.3). Linux heeds it after a
/// time-out alone, and then recovers from it as from a first loss (tcp_fastretrans_alert()).
void LossResponse::detect_losses_by_time(SendState& state, Time now) noexcept {
  const bool recovering = !recovery_.open();
  const bool again = rack_.detect(state.scoreboard, state.timer, recovering, now);
  if (!recovering || !again) return;
  if (state.context.config.lost_retransmission == LostRetransmission::kLinux) {
    if (!recovery_.after_timeout()) return;
    recovery_.enter(*state.scoreboard.flight(), state.stream.nxt(),
                    state.scoreboard.lost_pending() != 0);
    ++state.context.counters.fast_recoveries;
  }
  reduce(state, CongestionWindow::Cause::kLoss, state.window.reduction_base_bytes(state.stream),
         now);
}

/// @param base see CongestionWindow::reduction_base_bytes()
void LossResponse::reduce(SendState& state, CongestionWindow::Cause cause, std::uint32_t base,
                          Time now) noexcept {
  Flight* const flight = state.scoreboard.flight();
  state.tail_probe.forget(flight);
  if (state.context.config.reduction == WindowReduction::kPrr)
    state.window.begin_reduction(cause, base, flight, state.stream.nxt(), now);
  else state.window.reduce(cause, base, flight, state.stream.nxt(), now);
}

void LossResponse::take_step(SendState& state, std::int64_t delivered, bool advances) noexcept {
  const bool ends = !recovery_.fast() && state.past_reduction() >= 0;
  state.window.take_step(
      *state.scoreboard.flight(),
      {.delivered_bytes = static_cast<std::uint32_t>(std::max<std::int64_t>(delivered, 0)),
       .pipe_bytes = state.scoreboard.pipe_bytes(),
       .mss_bytes = state.stream.mss_bytes(),
       .safe = advances},
      ends);
}

/// Enters recovery by RFC 6675, section 5, step 4.
void LossResponse::enter_recovery(SendState& state, std::uint32_t base, Time now) noexcept {
  recovery_.enter(*state.scoreboard.flight(), state.stream.nxt(),
                  state.scoreboard.lost_pending() != 0);
  ++state.context.counters.fast_recoveries;
  state.tail_probe.forget(state.scoreboard.flight());
  if (state.past_reduction() < 0) return;  // ECE has reduced this window already
  reduce(state, CongestionWindow::Cause::kLoss, base, now);
}

/// Reduces the window for ECE, once per window. The comparison is strict: until data that left
/// after the reduction is acknowledged, the peer cannot have seen CWR and continues to echo.
void LossResponse::obey_ece(SendState& state, std::uint32_t base, Time now) noexcept {
  if (recovery_.fast() || state.past_reduction() <= 0) return;
  reduce(state, CongestionWindow::Cause::kEce, base, now);
  ++state.context.counters.ece_reductions;
}

// -- time

bool LossResponse::on_aux_timer(SendState& state, Time now) noexcept {
  RetransmissionTimer& timer = state.timer;
  Flight& flight = *state.scoreboard.flight();
  if (now < flight.aux_at) return false;
  if (flight.aux == Flight::Aux::kProbe) {
    state.tail_probe.on_timer();
    timer.arm_aux(flight, Flight::Aux::kNone, kNever);
    timer.arm(&flight, now + timer.rto());  // RFC 8985, 7.3
    return true;
  }
  if (now >= flight.rto_at) return false;
  const std::uint32_t bytes = state.window.reduction_base_bytes(state.stream);
  detect_losses_by_time(state, now);
  if (recovery_.open() && state.scoreboard.lost_pending() != 0) enter_recovery(state, bytes, now);
  update_window(state, 0, false);
  return true;
}

void LossResponse::on_timeout(SendState& state, Time now) noexcept {
  ++state.context.counters.rtos_data;
  const bool reduced = recovery_.fast() || (recovery_.open() && state.past_reduction() < 0);
  state.window.on_timeout(reduced, state.stream, now);
  Flight& flight = *state.scoreboard.flight();
  if (state.by_time) {
    rack_.on_timeout(state.scoreboard, state.timer, !recovery_.open(), now);
    state.tail_probe.cancel();
    state.tail_probe.forget(&flight);
  } else {
    state.scoreboard.mark_all_lost();
  }
  recovery_.on_timeout(flight, state.stream.nxt());
  state.window.note_reduction(&flight, state.stream.nxt(), now);
  state.timer.back_off(state.context.config);
  state.timer.arm(&flight, now + state.timer.rto());
}

}  // namespace outrider::tg
