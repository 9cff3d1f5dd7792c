#include "trafficgen/frames/signal_frame.h"

#include <algorithm>

#include "common/net/checksum.h"
#include "trafficgen/frames/frame.h"
#include "trafficgen/frames/ipv4_frame.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kUdpHeaderBytes = sizeof(UdpHeader);
constexpr std::uint32_t kMessageOffset = kTransportOffset + kUdpHeaderBytes;
constexpr std::uint32_t kFrameBytes = kMessageOffset + udp_signal::kBytes;
constexpr std::uint16_t kUdpBytes = kUdpHeaderBytes + udp_signal::kBytes;
constexpr std::uint32_t kIpBytes = sizeof(Ipv4Header) + kUdpBytes;

static_assert(kFrameBytes <= kWrittenEnd);
}  // namespace

void write_signal_frame(Packet& packet, const FlowKey& datagram, const udp_signal::Signal& signal,
                        std::uint8_t dscp) noexcept {
  auto* bytes = rte_pktmbuf_mtod(&packet, std::uint8_t*);
  auto& ethernet = *reinterpret_cast<EthernetHeader*>(bytes);
  ethernet.destination = mac_of(datagram.destination_address);
  ethernet.source = mac_of(datagram.source_address);
  ethernet.ether_type.set(kEtherTypeIpv4);
  const auto not_ect = static_cast<std::uint8_t>(dscp << 2);
  write_ipv4(bytes + kIpOffset, datagram, kIpProtocolUdp, not_ect, kIpBytes);

  const std::span<std::uint8_t, udp_signal::kBytes> message{bytes + kMessageOffset,
                                                            udp_signal::kBytes};
  udp_signal::encode(signal, message);
  write_udp(bytes + kTransportOffset, datagram, kUdpBytes, message);

  packet.data_len = static_cast<std::uint16_t>(kFrameBytes);
  packet.pkt_len = kFrameBytes;
  PacketMeta& m = meta(packet);
  m.next = nullptr;
  m.frame_bytes = kFrameBytes;
  m.payload_bytes = 0;  // TCP payload
}

std::optional<DropReason> read_signal_frame(Packet& packet, std::span<const std::uint16_t> ports,
                                            ReceivedSignal& received) noexcept {
  const auto bytes = buffer(packet);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  constexpr std::uint16_t kFragment = 0x3FFF;  // more to come, or not the first
  if (ip.protocol != kIpProtocolUdp || (ip.fragment.get() & kFragment) != 0)
    return DropReason::kNoConnection;
  if (bytes.size() < kMessageOffset) return DropReason::kMalformed;
  const auto field = [&packet](std::uint32_t n) {
    return header_at<Be16>(packet, kTransportOffset + 2 * n).get();
  };
  received.datagram = {ip.source.get(), ip.destination.get(), field(0), field(1)};
  if (std::ranges::find(ports, received.datagram.destination_port) == ports.end())
    return DropReason::kNoConnection;
  const std::uint16_t udp_bytes = field(2);
  if (udp_bytes < kUdpHeaderBytes || sizeof(Ipv4Header) + udp_bytes != ip.total_length.get() ||
      kTransportOffset + udp_bytes > bytes.size())
    return DropReason::kMalformed;
  if (field(3) != 0 &&
      checksum_fold(
          checksum_add(bytes.subspan(kTransportOffset, udp_bytes),
                       pseudo_header_sum(received.datagram, kIpProtocolUdp, udp_bytes))) != 0xFFFF)
    return DropReason::kBadChecksum;
  const auto message = bytes.subspan(kMessageOffset, udp_bytes - kUdpHeaderBytes);
  if (udp_signal::decode(message, Duration::max(), received.signal)) return DropReason::kMalformed;
  return std::nullopt;
}

}  // namespace outrider::tg
