#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "trafficgen/channel/channel.h"
#include "trafficgen/channel/transport_config.h"

namespace outrider::tg {

/// Where channels lead, and what is theirs there.
struct ChannelPlace {
  ChannelHosts hosts;
  std::uint16_t first_port = 0;  ///< where far hosts listen, if the transport has ports
  std::uint16_t ports = 1;       ///< that take turns
  bool fills_mtu = true;         ///< full packets are the hosts'; else the transport's, if it says
  /// To lend between two hosts, if channels are queue pairs. Absent: as many as flows need
  std::optional<std::uint32_t> queue_pairs{};
  std::uint64_t seed = 1;
};

/// Makes the channels of a transport between hosts. Transports are listed here only.
/// @pre has_channels(transport.protocol)
[[nodiscard]] std::unique_ptr<Channels> make_channels(const TransportConfig& transport,
                                                      const ChannelPlace& place);

}  // namespace outrider::tg
