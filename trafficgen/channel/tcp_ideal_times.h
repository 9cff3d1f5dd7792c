#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "trafficgen/channel/ideal_times.h"

namespace outrider::tg {

/// Returns the bytes on the wire (L1) of a stream that is sent in full segments and a rest.
[[nodiscard]] std::uint64_t wire_bytes_of_stream(std::uint64_t bytes,
                                                 std::uint32_t mss_bytes) noexcept;

/// Ideal times over TCP: the shortest handshake and the shortest way of data that the pair of hosts
/// had so far, plus the time of the frames. The way of data is half a handshake, or less if a flow
/// had less left beside its own handshake and frames: so no flow is faster than its ideal. All is
/// known at delivery.
class TcpIdealTimes final : public IdealTimes {
 public:
  TcpIdealTimes(ChannelHosts hosts, std::uint32_t mss_bytes);

  void on_handshake(HostPair pair, std::int64_t took_ns) noexcept override;
  std::optional<std::int64_t> ideal_ns(const FlowTimes& flow) noexcept override;

 private:
  /// The shortest times of a pair of hosts so far.
  struct Shortest {
    std::int64_t handshake_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t way_ns = std::numeric_limits<std::int64_t>::max();  ///< of data
  };

  ChannelHosts hosts_;
  std::uint32_t mss_bytes_;
  std::vector<Shortest> shortest_;  ///< [pairs]
};

}  // namespace outrider::tg
