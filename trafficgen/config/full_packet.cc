#include "trafficgen/config/full_packet.h"

#include <algorithm>
#include <cstdint>

#include "trafficgen/roce/path_mtu.h"

namespace outrider::tg {

FullPacket full_packet_of(const GeneratorConfig& config, const FlowsConfig& flows) {
  const auto transport =
      std::ranges::find(config.transports, flows.transport, &TransportConfig::name);
  if (!has_queue_pairs(transport->protocol)) return full_segment(transport->tcp.mss_bytes);
  std::uint32_t mtu_bytes = UINT32_MAX;
  for (const auto* side : {&flows.from, &flows.to, &flows.hosts})
    for (const std::string& name : *side)
      mtu_bytes =
          std::min(mtu_bytes, std::ranges::find(config.hosts, name, &HostConfig::name)->mtu_bytes);
  const std::uint32_t payload_bytes = path_mtu_of(mtu_bytes);
  return {payload_bytes, payload_bytes + kAroundPayloadBytes + telemetry_bytes_of(transport->roce)};
}

}  // namespace outrider::tg
