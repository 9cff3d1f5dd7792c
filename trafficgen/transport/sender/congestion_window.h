#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/base/tcp_config.h"
#include "trafficgen/transport/control/controller_slot.h"
#include "trafficgen/transport/memory/flight.h"
#include "trafficgen/transport/sender/send_stream.h"
#include "trafficgen/transport/sender/window_validation.h"

namespace outrider::tg {

/// Returns a window as WindowValidation judges it.
[[nodiscard]] inline WindowValidation::Window judged(std::uint32_t cwnd_bytes,
                                                     const CongestionControl& control) noexcept {
  return {cwnd_bytes, cwnd_bytes < control.ssthresh_bytes()};
}

/// Keeps the congestion window, which the controller decides, and reduces it once per window of
/// data for ECE and loss, at once or step by step. The Flight keeps the offset up to which the last
/// reduction reaches, and the state of its steps. Without a Flight, only one bit is kept: whether
/// it reaches exactly to the oldest byte that may leave.
///
/// Sources: RFC 5681, RFC 3168, 6.1.2, RFC 9937. Not thread-safe.
class CongestionWindow {
 public:
  using Cause = CongestionControl::Congestion;

  explicit CongestionWindow(const TcpConfig& config) noexcept
      : control_(config.control, static_cast<std::uint16_t>(config.mss_bytes)),
        cwnd_(control_->cwnd_bytes()),
        validates_(config.window_validation == WindowUse::kLinux),
        from_window_(config.ssthresh_base == SsthreshBase::kWindow) {}

  [[nodiscard]] std::uint32_t bytes() const noexcept { return cwnd_; }
  [[nodiscard]] const CongestionControl& control() const noexcept { return *control_; }
  [[nodiscard]] bool ecn() const noexcept { return ecn_; }
  /// Returns what a reduction begins with [bytes]: the FlightSize of RFC 5681, without the data
  /// that limited transmit added; or the window, as in Linux.
  [[nodiscard]] std::uint32_t reduction_base_bytes(const SendStream& stream) const noexcept {
    if (from_window_) return cwnd_;
    const std::uint64_t flight = stream.nxt() - stream.una();
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(flight, cwnd_));
  }

  /// Begins anew with the segments, and with ECN or not, as the handshake has agreed.
  void start(const TcpConfig& config, std::uint16_t mss_bytes, bool ecn) noexcept {
    ecn_ = ecn;
    control_.remake(config.control, mss_bytes);
    update();
  }
  void on_handshake_loss() noexcept {
    control_->on_handshake_loss();
    update();
  }
  /// @pre idle > rto
  void on_idle(Duration idle, Duration rto, Time now) noexcept {
    control_->on_idle(idle, rto);
    validation_.restart(now);
    update();
  }
  /// @param reduced the window is below what it was reduced from, in a recovery or after a mark.
  ///   Linux then leaves ssthresh alone (tcp_enter_loss()): the window says nothing of the path.
  void on_timeout(bool reduced, const SendStream& stream, Time now) noexcept {
    const bool stays = from_window_ && reduced;
    control_->on_timeout(stays ? std::nullopt : std::optional(reduction_base_bytes(stream)), now);
    reducing_ = false;
    update();
  }
  void note_share(double share) noexcept { control_->note_share(share); }
  /// Passes the acknowledgment to the controller. Call update() at its end, which refreshes
  /// bytes().
  void on_ack(AckEvent& event, const SendStream& stream) noexcept {
    event.snd_una = stream.una();
    event.snd_nxt = stream.nxt();
    control_->on_ack(event);
  }
  /// Reduces the window at a sign of congestion. Call update() afterwards, which refreshes bytes().
  void reduce(Cause cause, std::uint32_t base_bytes, Flight* flight, std::uint64_t nxt,
              Time now) noexcept {
    control_->on_congestion(cause, base_bytes, now);
    note_reduction(flight, nxt, now);
  }
  /// Does the same step by step, if the controller reduces the window at all: from now on the owner
  /// calls take_step() for every acknowledgment, and RateReduction::on_sent() for what leaves.
  void begin_reduction(Cause cause, std::uint32_t base_bytes, Flight* flight, std::uint64_t nxt,
                       Time now) noexcept {
    const std::uint32_t before = control_->cwnd_bytes();
    reduce(cause, base_bytes, flight, nxt, now);
    if (flight == nullptr || control_->cwnd_bytes() >= before) return;
    reducing_ = true;
    flight->reduction.begin(base_bytes);
    flight->losses_judged = flight->losses;
  }
  [[nodiscard]] bool reducing() const noexcept { return reducing_; }
  /// Refreshes bytes() after an acknowledgment. @pre reducing()
  /// @param ends the data that the reduction covers is acknowledged: the window is the reduced one
  void take_step(Flight& flight, RateReduction::Ack ack, bool ends) noexcept {
    ack.target_bytes = control_->cwnd_bytes();
    ack.safe = ack.safe && flight.losses == flight.losses_judged;
    flight.losses_judged = flight.losses;
    reducing_ = !ends;
    cwnd_ = ends ? ack.target_bytes : flight.reduction.on_ack(ack, cwnd_);
  }
  /// Refreshes bytes(). @pre !reducing()
  void update() noexcept { cwnd_ = control_->cwnd_bytes(); }

  /// Notes that the window of data in flight now has had its reduction (RFC 3168, 6.1.2).
  void note_reduction(Flight* flight, std::uint64_t nxt, Time now) noexcept {
    if (flight != nullptr) {
      flight->reduced_until = nxt;
      flight->reduced_ns = now.time_since_epoch().count();
    } else {
      reduced_here_ = true;
    }
    cwr_pending_ = ecn_;
    validation_.restart(now);
  }
  /// Returns -1, 0 or 1 if una is below, at or above the end of the data that the last reduction
  /// covers.
  [[nodiscard]] int past_reduction(const Flight* flight, std::uint64_t una) const noexcept {
    if (flight == nullptr) return reduced_here_ ? 0 : 1;
    const std::uint64_t end = flight->reduced_until;
    return una < end ? -1 : una > end ? 1 : 0;
  }

  /// Sets ECN and, if pending, CWR in a segment of new data.
  void mark_new_data(TcpSegment& s) noexcept {
    if (ecn_) s.ecn = Ecn::kEct0;
    if (cwr_pending_) s.flags |= kTcpCwr;  // RFC 3168, 6.1.2
    cwr_pending_ = false;
  }
  /// Notes whether data that has just left fills the window. New data that waits for a window in
  /// which more of it leaves at once fills it too, as in Linux (tcp_tso_should_defer(),
  /// is_cwnd_limited).
  /// @param fresh it is new data
  void note_use(bool full, const SendStream& stream, Flight& flight, bool fresh,
                Time now) noexcept {
    if (validates_) {
      if (fresh) validation_.on_sent(full, stream, judged(cwnd_, *control_), flight, now);
    } else if (full) {
      flight.window_full_until = stream.nxt();
    }
  }
  /// Returns true if the window holds the sender back: the data at una left when it was full, or
  /// WindowValidation finds that it is needed.
  [[nodiscard]] bool limits(const Flight* flight, std::uint64_t una) const noexcept {
    if (flight == nullptr) return false;
    if (!validates_) return una < flight->window_full_until;
    return flight->window_full || WindowValidation::needed(*flight, judged(cwnd_, *control_));
  }
  /// Returns true if the window was not needed for an RTO. unused() then lowers it.
  [[nodiscard]] bool unneeded(Duration rto, Time now) const noexcept {
    return validates_ && validation_.unneeded_for(now) >= rto;
  }
  /// Lowers the window halfway to what was used of it, if that is less.
  void unused(Time now) noexcept {
    control_->on_unused(validation_.used_bytes());
    validation_.restart(now);
    update();
  }

  void begin_flight(Flight& flight, std::uint64_t una) const noexcept {
    flight.reduced_until = reduced_here_ ? una : una - 1;
  }
  void end_flight(const Flight& flight, std::uint64_t una) noexcept {
    assert(!reducing_);
    reduced_here_ = past_reduction(&flight, una) == 0;
  }

 private:
  ControllerSlot control_;
  std::uint32_t cwnd_;  ///< the controller's window, cached; a step towards it while reducing_
  [[no_unique_address]] WindowValidation validation_;
  bool validates_ : 1;
  bool from_window_ : 1;  ///< reductions begin with the window, not with the data in flight
  bool ecn_ : 1 = false;
  bool cwr_pending_ : 1 = false;  ///< the next new data segment carries CWR
  bool reducing_ : 1 = false;     ///< towards the controller's window, step by step
  bool reduced_here_ : 1 = true;  ///< nothing is in flight, and the last reduction ends at una
};

}  // namespace outrider::tg
