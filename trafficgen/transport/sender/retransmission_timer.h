#pragma once

#include <algorithm>

#include "common/core/clock.h"
#include "trafficgen/transport/base/tcp_config.h"
#include "trafficgen/transport/memory/flight.h"
#include "trafficgen/transport/sender/rto_estimator.h"

namespace outrider::tg {

/// A sender's timer, with its deadline and its RTO. With RACK-TLP (Flight::by_time) a flight has
/// two timers, the RTO and an auxiliary one, and the deadline is the earlier one. With nothing in
/// flight the deadline is that of the handshake, of a probe, or of asking for memory again.
///
/// Source: RFC 6298, section 5; RFC 8985, 6.3 and 7.2. Not thread-safe.
class RetransmissionTimer {
 public:
  explicit RetransmissionTimer(const TcpConfig& config) noexcept
      : estimator_(config.initial_rto, bounds(config)) {}

  [[nodiscard]] Time deadline() const noexcept { return deadline_; }
  [[nodiscard]] bool armed() const noexcept { return deadline_ != kNever; }
  [[nodiscard]] Duration rto() const noexcept { return estimator_.rto(); }
  /// Returns the smoothed round trip; zero without a sample.
  [[nodiscard]] Duration srtt() const noexcept { return estimator_.srtt(); }

  /// @param at where the stream stands after the acknowledgment
  void on_sample(Duration rtt, RtoEstimator::Position at, const TcpConfig& config) noexcept {
    if (config.rto == RtoRule::kLinux) estimator_.on_sample_like_linux(rtt, at, bounds(config));
    else estimator_.on_sample(rtt, bounds(config));
  }
  void back_off(const TcpConfig& config) noexcept { estimator_.back_off(bounds(config)); }
  /// Restarts from an RTO of 3 s if the initial one is 1 s (RFC 6298, 5.7), in proportion
  /// otherwise.
  void on_handshake_loss(const TcpConfig& config) noexcept {
    estimator_.restart_at(3 * config.initial_rto, bounds(config));
  }

  /// Sets the deadline where there is only one timer, e.g. with nothing in flight.
  void set(Time at) noexcept { deadline_ = at; }
  /// Sets the RTO. @param flight nullptr if nothing has left yet; kNever stops both timers
  void arm(Flight* flight, Time at) noexcept {
    deadline_ = at;
    if (flight == nullptr || !flight->by_time) return;
    flight->rto_at = at;
    if (at == kNever) arm_aux(*flight, Flight::Aux::kNone, kNever);
    else deadline_ = std::min(at, flight->aux_at);
  }
  /// Sets the auxiliary timer next to the RTO.
  void arm_aux(Flight& flight, Flight::Aux aux, Time at) noexcept {
    flight.aux = aux;
    flight.aux_at = at;
    deadline_ = std::min(flight.rto_at, at);
  }

 private:
  [[nodiscard]] static RtoEstimator::Bounds bounds(const TcpConfig& config) noexcept {
    return {config.min_rto, config.max_rto};
  }

  Time deadline_ = kNever;
  RtoEstimator estimator_;
};

}  // namespace outrider::tg
