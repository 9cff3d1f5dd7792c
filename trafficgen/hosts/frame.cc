#include "trafficgen/hosts/frame.h"

#include <algorithm>
#include <cassert>

#include "common/net/checksum.h"

namespace outrider {

namespace {
constexpr std::uint32_t kIpOffset = sizeof(EthernetHeader);
constexpr std::uint32_t kTcpOffset = kIpOffset + sizeof(Ipv4Header);
constexpr std::uint32_t kMinFrameBytes = 60;  // without FCS
constexpr std::uint8_t kInitialTtl = 64;
constexpr std::uint16_t kDontFragment = 0x4000;

void write_memory_order(Be16& field, std::uint16_t checksum) noexcept {
  std::memcpy(field.raw.data(), &checksum, sizeof checksum);
}
}  // namespace

MacAddress mac_of(std::uint32_t address) noexcept {
  return {0x02,
          0x00,
          static_cast<std::uint8_t>(address >> 24),
          static_cast<std::uint8_t>(address >> 16),
          static_cast<std::uint8_t>(address >> 8),
          static_cast<std::uint8_t>(address)};
}

void write_frame(Packet& packet, const FlowKey& flow, std::uint8_t tos, const TcpSegment& segment,
                 bool full_payload) noexcept {
  auto* bytes = rte_pktmbuf_mtod(&packet, std::uint8_t*);
  auto& ethernet = *reinterpret_cast<EthernetHeader*>(bytes);
  auto& ip = *reinterpret_cast<Ipv4Header*>(bytes + kIpOffset);
  std::uint8_t* tcp_bytes = bytes + kTcpOffset;
  const std::uint32_t tcp_header = encode_tcp(segment, flow.source_port, flow.destination_port,
                                              {tcp_bytes, sizeof(TcpHeader) + kMaxTcpOptionBytes});
  const auto ip_bytes =
      static_cast<std::uint16_t>(sizeof(Ipv4Header) + tcp_header + segment.payload_bytes);

  ethernet.destination = mac_of(flow.destination_address);
  ethernet.source = mac_of(flow.source_address);
  ethernet.ether_type.set(kEtherTypeIpv4);
  ip.version_and_length = 0x45;
  ip.tos = tos;
  ip.total_length.set(ip_bytes);
  ip.identification.set(0);  // atomic datagrams need none (RFC 6864, section 4.1)
  ip.fragment.set(kDontFragment);
  ip.ttl = kInitialTtl;
  ip.protocol = kIpProtocolTcp;
  ip.source.set(flow.source_address);
  ip.destination.set(flow.destination_address);
  write_memory_order(ip.checksum, ipv4_checksum(ip));

  auto& tcp = *reinterpret_cast<TcpHeader*>(tcp_bytes);
  const auto tcp_length = static_cast<std::uint16_t>(tcp_header + segment.payload_bytes);
  const std::uint64_t sum =
      checksum_add({tcp_bytes, tcp_header}, tcp_pseudo_header_sum(ip, tcp_length));
  write_memory_order(tcp.checksum, static_cast<std::uint16_t>(~checksum_fold(sum)));

  const std::uint32_t frame_bytes = std::max(kMinFrameBytes, kIpOffset + ip_bytes);
  const std::uint32_t header_bytes = std::max(kMinFrameBytes, kTcpOffset + tcp_header);
  packet.data_len = static_cast<std::uint16_t>(full_payload ? frame_bytes : header_bytes);
  packet.pkt_len = packet.data_len;
  // Options of an earlier packet in this buffer lie where payload or padding is
  // now. Clearing more than this frame has is harmless: all payload is zeros.
  if (full_payload) {
    std::memset(tcp_bytes + tcp_header, 0, kMaxTcpOptionBytes);
  } else {
    std::memset(tcp_bytes + tcp_header, 0, kMinFrameBytes - kTcpOffset - sizeof(TcpHeader));
  }
  PacketMeta& m = meta(packet);
  m.next = nullptr;
  m.frame_bytes = frame_bytes;
  m.payload_bytes = segment.payload_bytes;
}

std::optional<FlowKey> peek_flow(Packet& packet) noexcept {
  if (rte_pktmbuf_data_len(&packet) < kTcpOffset + sizeof(TcpHeader)) return std::nullopt;
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ip.version_and_length != 0x45 || ip.protocol != kIpProtocolTcp) return std::nullopt;
  const auto& tcp = header_at<TcpHeader>(packet, kTcpOffset);
  return FlowKey{ip.source.get(), ip.destination.get(), tcp.source_port.get(),
                 tcp.destination_port.get()};
}

std::optional<ReceivedFrame> read_frame(Packet& packet, DropReason& reason) noexcept {
  const auto fail = [&reason](DropReason why) {
    reason = why;
    return std::nullopt;
  };
  const auto bytes = buffer(packet);
  const PacketMeta& m = meta(packet);
  if (bytes.size() < kTcpOffset + sizeof(TcpHeader)) return fail(DropReason::kMalformed);
  const auto& ethernet = header_at<EthernetHeader>(packet, 0);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ethernet.ether_type.get() != kEtherTypeIpv4 || ip.version_and_length != 0x45)
    return fail(DropReason::kNotIpv4);
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (ip_bytes < sizeof(Ipv4Header) + sizeof(TcpHeader) || kIpOffset + ip_bytes > m.frame_bytes)
    return fail(DropReason::kMalformed);
  if (!ipv4_checksum_valid(ip)) return fail(DropReason::kBadChecksum);
  if (ip.protocol != kIpProtocolTcp) return fail(DropReason::kNoConnection);
  const auto tcp_length = static_cast<std::uint16_t>(ip_bytes - sizeof(Ipv4Header));
  const std::size_t present = std::min<std::size_t>(bytes.size() - kTcpOffset, tcp_length);
  // Payload that the buffer does not hold is zeros and adds nothing to the sum.
  const std::uint64_t sum =
      checksum_add(bytes.subspan(kTcpOffset, present), tcp_pseudo_header_sum(ip, tcp_length));
  if (checksum_fold(sum) != 0xFFFF) return fail(DropReason::kBadChecksum);
  auto segment = decode_tcp(bytes.subspan(kTcpOffset, present), tcp_length);
  if (!segment) return fail(DropReason::kMalformed);
  segment->ecn = ecn_of(ip.tos);
  const auto& tcp = header_at<TcpHeader>(packet, kTcpOffset);
  return ReceivedFrame{
      {ip.source.get(), ip.destination.get(), tcp.source_port.get(), tcp.destination_port.get()},
      ip.tos,
      *segment};
}

}  // namespace outrider
