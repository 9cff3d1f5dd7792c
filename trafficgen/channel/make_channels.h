#pragma once

#include <cstdint>
#include <memory>

#include "trafficgen/channel/channel.h"
#include "trafficgen/channel/transport_config.h"
#include "trafficgen/hosts/host.h"

namespace outrider::tg {

/// Where channels lead.
struct ChannelPlace {
  Host* from = nullptr;
  Host* to = nullptr;
  std::uint16_t first_port = 0;  ///< where `to` listens, if the transport has ports
  std::uint16_t ports = 1;       ///< that take turns
  std::uint64_t seed = 1;
};

/// Makes the channels of a transport from one host to another. Transports are listed here only.
/// @pre has_channels(transport.protocol)
[[nodiscard]] std::unique_ptr<Channels> make_channels(const TransportConfig& transport,
                                                      const ChannelPlace& place);

}  // namespace outrider::tg
