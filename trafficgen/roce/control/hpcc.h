#pragma once

#include <cstdint>

#include "common/net/roce_telemetry.h"
#include "trafficgen/roce/control/rate_controller.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// HPCC: a window that follows what the hops of the path tell of their use. At each hop that use is
/// what waits in its queue, as a share of what the port sends in the base round trip, and the share
/// of time in which the port was sending from it. The largest is averaged over a round trip.
/// Above `eta` the window is divided by how far it is above; below, it grows by `additive_bytes`,
/// and after `max_stage` such steps in a row it is divided too, which then makes it larger. All
/// steps of a round trip begin at the window that this round trip began with, so that no change is
/// counted twice. Packets are paced at window / base round trip.
///
/// Source: Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, section 3, algorithm
/// 1; where that leaves something open, the simulator that the authors published: the use begins at
/// 1, the first acknowledgment alone changes nothing, and the window is at most the first one.
/// There is no reaction to losses, time-outs and CNPs. Deviations: hops tell times instead of bytes
/// and rate (roce_telemetry.h). Of a path with more than 5 hops the first 5 count. Records that
/// wrapped while the flow was silent, or that another path left, are no predecessors.
class Hpcc final : public RateController {
 public:
  /// @param config must outlive the controller
  Hpcc(const HpccConfig& config, const SendPath& path) noexcept;

  [[nodiscard]] double rate_bps(Time /*now*/) noexcept override { return pace_bps(); }
  [[nodiscard]] bool reads_acks() const noexcept override { return true; }
  void on_ack(const RateSample& sample, Time now) noexcept override;
  [[nodiscard]] std::uint32_t window_packets() const noexcept override;
  [[nodiscard]] RateState state(Time now) const noexcept override;

  /// Returns the window [bytes on the wire, L1].
  [[nodiscard]] double window_bytes() const noexcept { return window_bytes_; }
  /// Returns the use of the path, 1 is full: U.
  [[nodiscard]] double use() const noexcept { return use_; }

 private:
  [[nodiscard]] double pace_bps() const noexcept;
  [[nodiscard]] bool measure(const roce::Telemetry& path, Time now) noexcept;

  const HpccConfig& config_;
  SendPath path_;
  double base_ns_;               ///< T
  double most_bytes_;            ///< the first window
  double window_bytes_;          ///< W
  double reference_bytes_;       ///< Wc: the window that this round trip began with
  double use_ = 1;               ///< U
  std::uint32_t stage_ = 0;      ///< additive steps in a row
  std::uint64_t renews_at_ = 0;  ///< the round trip is over once this packet is acknowledged
  roce::Telemetry last_{};       ///< L; no hops: none
  Time last_at_{};               ///< when it came
};

}  // namespace outrider::tg
