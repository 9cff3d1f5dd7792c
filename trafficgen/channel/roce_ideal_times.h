#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "trafficgen/channel/ideal_times.h"

namespace outrider::tg {

/// Ideal times over RoCEv2: the time of the packets, plus the shortest way of a packet (Way). There
/// is no handshake to show it, but an acknowledgment of the last packet: all is known when that has
/// come.
class RoceIdealTimes final : public IdealTimes {
 public:
  explicit RoceIdealTimes(ChannelHosts hosts);

  std::optional<std::int64_t> ideal_ns(const FlowTimes& flow) noexcept override;

 private:
  static constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max() / 4;
  /// The shortest way of a packet between two hosts so far, without the time of its own frame at
  /// the slower NIC. That of a flow's first packet was short unless it met others; that of the
  /// answer, which meets no data, is so at once, and takes as much less as the most fortunate first
  /// packet of the group took more than its answer.
  struct Way {
    std::int64_t data_ns = kLongest;    ///< of a full packet
    std::int64_t answer_ns = kLongest;  ///< of an acknowledgment, back
  };
  [[nodiscard]] std::uint32_t path_mtu(HostPair pair) const noexcept;
  /// Returns how long packets with so much payload take at the slower NIC.
  [[nodiscard]] std::int64_t packets_ns(HostPair pair, std::uint64_t bytes) const noexcept;

  ChannelHosts hosts_;
  std::vector<Way> ways_;                        ///< [pairs]
  std::int64_t data_over_answer_ns_ = kLongest;  ///< by which data take longer than answers
};

}  // namespace outrider::tg
