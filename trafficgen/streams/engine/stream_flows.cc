#include "trafficgen/streams/engine/stream_flows.h"

#include "common/config/addresses.h"
#include "common/net/checksum.h"

namespace outrider::tg {

FlowKey flow_of(const StreamConfig& s, std::uint32_t index) noexcept {
  const auto digit = [&index](std::uint32_t base) {
    const std::uint32_t d = index % base;
    index /= base;
    return d;
  };
  FlowKey flow;
  flow.source_port = static_cast<std::uint16_t>(s.source_port + digit(source_ports_of(s)));
  flow.source_address = *parse_ipv4(s.source).value + digit(s.source_addresses);
  flow.destination_address = *parse_ipv4(s.destination).value + digit(s.destination_addresses);
  flow.destination_port =
      static_cast<std::uint16_t>(s.destination_port + digit(s.destination_ports));
  return flow;
}

StreamFlows::StreamFlows(const StreamConfig& s) {
  flows_.reserve(s.flows);
  for (std::uint32_t i = 0; i < s.flows; ++i) {
    const FlowKey key = flow_of(s, i);
    const std::uint32_t source = be32(key.source_address);
    const std::uint32_t destination = be32(key.destination_address);
    const std::uint32_t ports =
        be16(key.source_port) | (std::uint32_t{be16(key.destination_port)} << 16);
    flows_.push_back(
        {source, destination, ports, checksum_fold(std::uint64_t{source} + destination)});
  }
}

}  // namespace outrider::tg
