#include "tests/support/adversary/seen_frame.h"

#include <algorithm>
#include <span>

#include "common/net/headers.h"
#include "common/net/tos_signal.h"

namespace outrider {
namespace {

constexpr std::uint32_t kIpAt = sizeof(EthernetHeader);

std::int8_t scale_of(std::span<const std::uint8_t> options) {
  for (std::size_t at = 0; at < options.size() && options[at] != 0;) {
    if (options[at] == 1) {
      ++at;
      continue;
    }
    if (at + 1 >= options.size() || options[at + 1] < 2) break;
    if (options[at] == 3 && at + 2 < options.size())
      return static_cast<std::int8_t>(std::min<std::uint8_t>(options[at + 2], 14));
    at += options[at + 1];
  }
  return -1;
}

void read_tcp(SeenFrame& f, Packet& packet, std::uint32_t at, std::uint32_t ip_payload) {
  const auto& tcp = header_at<TcpHeader>(packet, at);
  f.flow.source_port = tcp.source_port.get();
  f.flow.destination_port = tcp.destination_port.get();
  f.tcp_flags = tcp.flags;
  f.window = tcp.window.get();
  f.payload_bytes = static_cast<std::uint16_t>(ip_payload - tcp.header_bytes());
  f.sequence = tcp.sequence.get();
  f.acknowledgment = tcp.acknowledgment.get();
  const auto options = buffer(packet).subspan(at + sizeof(TcpHeader));
  if (f.has(kTcpSyn))
    f.window_scale = scale_of(options.first(
        std::min<std::size_t>(options.size(), tcp.header_bytes() - sizeof(TcpHeader))));
}

}  // namespace

std::optional<FlowKey> SeenFrame::announced() const {
  if (message && message->kind == udp_signal::Kind::kStart)
    return FlowKey{flow.source_address, flow.destination_address, message->source_port,
                   message->destination_port};
  if (!is_tcp() || !tos_signal::is_carrier(tcp_flags, payload_bytes)) return std::nullopt;
  const auto signal = tos_signal::decode(tos);
  if (!signal || signal->kind != tos_signal::Kind::kStart || signal->threshold_packets == 0)
    return std::nullopt;
  return flow;
}

std::optional<SeenFrame> seen_frame(Packet& packet) {
  const auto bytes = buffer(packet);
  if (bytes.size() < kIpAt + sizeof(Ipv4Header)) return std::nullopt;
  if (header_at<EthernetHeader>(packet, 0).ether_type.get() != kEtherTypeIpv4) return std::nullopt;
  const auto& ip = header_at<Ipv4Header>(packet, kIpAt);
  const std::uint32_t at = kIpAt + ip.header_bytes();
  SeenFrame f{.flow = {ip.source.get(), ip.destination.get(), 0, 0},
              .protocol = ip.protocol,
              .tos = ip.tos};
  if (f.is_tcp() && at + sizeof(TcpHeader) <= bytes.size())
    read_tcp(f, packet, at, ip.total_length.get() - ip.header_bytes());
  if (ip.protocol != kIpProtocolUdp || at + sizeof(UdpHeader) > bytes.size()) return f;
  const auto& udp = header_at<UdpHeader>(packet, at);
  f.flow.source_port = udp.source_port.get();
  f.flow.destination_port = udp.destination_port.get();
  if (at + sizeof(UdpHeader) + udp_signal::kBytes > bytes.size()) return f;
  udp_signal::Signal signal;
  const auto payload = bytes.subspan(at + sizeof(UdpHeader), udp_signal::kBytes);
  if (!udp_signal::decode(payload, std::chrono::seconds(10), signal)) f.message = signal;
  return f;
}

}  // namespace outrider
