#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/core/clock.h"

namespace outrider::tg {

/// What one hop of a path tells of itself: in-band telemetry (INT), as HPCC reads it.
struct HopState {
  std::uint64_t queue_bytes = 0;
  std::uint64_t sent_bytes = 0;  ///< by its port so far
  Time at{};
  std::uint64_t bits_per_second = 0;
};

/// What an acknowledgment says of the network.
struct RateSample {
  std::uint64_t acknowledged_bytes = 0;  ///< newly
  std::optional<Duration> rtt{};         ///< for controllers of delay, such as Swift
  std::span<const HopState> hops{};      ///< for HPCC; this program's switches tell none
};

/// What a controller decides by, at an instant. A member is absent where it has no such thing.
struct RateState {
  std::optional<double> rate_bps{};    ///< as of RateController::rate_bps()
  std::optional<double> target_bps{};  ///< to which the rate rises
  std::optional<double> alpha{};       ///< estimate of congestion, in [0, 1]
  std::optional<double> window_bytes{};
};

/// Decides at what rate a queue pair sends. `now` never decreases. A controller has no timer of its
/// own: what its timers would have done until `now` is done at the next call, because the rate
/// matters only when a packet leaves. Not thread-safe; nothing allocates.
class RateController {
 public:
  virtual ~RateController() = default;

  /// Returns the rate in bit/s, L1, at which the next packet leaves.
  [[nodiscard]] virtual double rate_bps(Time now) noexcept = 0;
  /// @param bytes of a packet on the wire, L1, which leaves now
  virtual void on_sent(std::uint32_t bytes, Time now) noexcept = 0;
  /// A congestion notification packet has come.
  virtual void on_cnp(Time now) noexcept = 0;
  virtual void on_ack(const RateSample& sample, Time now) noexcept = 0;
  /// Returns its state. Asking changes nothing.
  [[nodiscard]] virtual RateState state(Time /*now*/) const noexcept { return {}; }
};

/// Sends at one rate, whatever the network says.
class FixedRate final : public RateController {
 public:
  explicit FixedRate(double bps) noexcept : bps_(bps) {}
  [[nodiscard]] double rate_bps(Time) noexcept override { return bps_; }
  void on_sent(std::uint32_t, Time) noexcept override {}
  void on_cnp(Time) noexcept override {}
  void on_ack(const RateSample&, Time) noexcept override {}
  [[nodiscard]] RateState state(Time) const noexcept override { return {.rate_bps = bps_}; }

 private:
  double bps_;
};

}  // namespace outrider::tg
