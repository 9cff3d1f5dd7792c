#include "trafficgen/channel/make_channels.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/channel/roce_channels.h"
#include "trafficgen/channel/tcp_channels.h"
#include "trafficgen/frames/frame.h"

namespace outrider::tg {

namespace {

std::unique_ptr<Channels> over_tcp(const TransportConfig& transport, const ChannelPlace& place) {
  TcpChannels::Setup setup{.hosts = place.hosts,
                           .first_port = place.first_port,
                           .ports = place.ports,
                           .tcp = transport.tcp};
  if (place.fills_mtu)
    setup.tcp.mss_bytes = std::min(place.hosts.from.front()->setup().mtu_bytes,
                                   place.hosts.to.front()->setup().mtu_bytes) -
                          kIpAndTcpBytes;
  return std::make_unique<TcpChannels>(std::move(setup));
}

std::unique_ptr<Channels> over_roce(const TransportConfig& transport, const ChannelPlace& place) {
  return std::make_unique<RoceChannels>(RoceChannels::Setup{.hosts = place.hosts,
                                                            .roce = transport.roce,
                                                            .priority = transport.tcp.priority,
                                                            .queue_pairs = place.queue_pairs,
                                                            .seed = place.seed});
}

}  // namespace

std::unique_ptr<Channels> make_channels(const TransportConfig& transport,
                                        const ChannelPlace& place) {
  switch (transport.protocol) {
    case TransportProtocol::kTcp:
      return over_tcp(transport, place);
    case TransportProtocol::kRoce:
      return over_roce(transport, place);
    case TransportProtocol::kMlt:
      break;
  }
  assert(false);
  return nullptr;
}

}  // namespace outrider::tg
