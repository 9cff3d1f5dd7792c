#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "common/core/clock.h"
#include "common/net/roce_telemetry.h"

namespace outrider::tg {

/// What a controller has to know of where its packets go.
struct SendPath {
  double line_bps = 0;             ///< rate of the host's NIC, L1
  double packet_bytes = 0;         ///< of a full packet on the wire, L1
  std::uint32_t most_packets = 1;  ///< that may be in flight, whatever the controller says
};

/// What an acknowledgment says of the network.
struct RateSample {
  std::uint64_t acknowledged_packets = 0;  ///< newly
  /// Of the newest of them, unless it was sent more than once or waited for one that was.
  std::optional<Duration> rtt{};
  std::uint64_t acknowledged = 0;  ///< packets so far
  std::uint64_t next_packet = 0;   ///< number, from 0, of the next one that never left before
  const roce::Telemetry* path = nullptr;  ///< what the hops have told; nullptr: nothing
};

/// What a controller decides by, at an instant. A member is absent where it has no such thing.
struct RateState {
  std::optional<double> rate_bps{};      ///< as of RateController::rate_bps()
  std::optional<double> target_bps{};    ///< to which the rate rises
  std::optional<double> alpha{};         ///< estimate of congestion, in [0, 1]
  std::optional<double> window_bytes{};  ///< on the wire, L1
};

/// Decides at what rate a queue pair sends, and how many packets may be in flight. `now` never
/// decreases. A controller has no timer of its own: what its timers would have done until `now` is
/// done at the next call, because the rate matters only when a packet leaves. Not thread-safe;
/// nothing allocates.
class RateController {
 public:
  static constexpr std::uint32_t kNoWindow = std::numeric_limits<std::uint32_t>::max();

  virtual ~RateController() = default;

  /// Returns the rate in bit/s, L1, at which the next packet leaves.
  [[nodiscard]] virtual double rate_bps(Time now) noexcept = 0;
  /// @param bytes of a packet on the wire, L1, which leaves now
  virtual void on_sent(std::uint32_t /*bytes*/, Time /*now*/) noexcept {}
  /// A congestion notification packet has come.
  virtual void on_cnp(Time /*now*/) noexcept {}
  /// Increases from `now` on are those of MLTCP at this share of a burst, see MltcpGrowth. Only
  /// DCQCN heeds it.
  virtual void note_share(double /*share*/, Time /*now*/) noexcept {}

  /// Returns whether it decides by acknowledgments. Then every packet asks for one, and the calls
  /// below are made.
  [[nodiscard]] virtual bool reads_acks() const noexcept { return false; }
  virtual void on_ack(const RateSample& /*sample*/, Time /*now*/) noexcept {}
  /// A NAK says that a packet was lost.
  virtual void on_loss(Time /*now*/) noexcept {}
  /// A silence of the peer has lasted for the time-out.
  virtual void on_timeout(Time /*now*/) noexcept {}
  /// Returns how many packets may be in flight, >= 1.
  [[nodiscard]] virtual std::uint32_t window_packets() const noexcept { return kNoWindow; }
  /// Returns its state. Asking changes nothing.
  [[nodiscard]] virtual RateState state(Time /*now*/) const noexcept { return {}; }
};

/// Sends at one rate, whatever the network says.
class FixedRate final : public RateController {
 public:
  explicit FixedRate(double bps) noexcept : bps_(bps) {}
  [[nodiscard]] double rate_bps(Time) noexcept override { return bps_; }
  [[nodiscard]] RateState state(Time) const noexcept override { return {.rate_bps = bps_}; }

 private:
  double bps_;
};

}  // namespace outrider::tg
