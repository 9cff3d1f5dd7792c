#include "trafficgen/hosts/frame.h"

#include <algorithm>
#include <cassert>

#include "common/net/checksum.h"
#include "trafficgen/hosts/ipv4_frame.h"

namespace outrider::tg {

namespace {

/// Bytes behind a TCP header without options in a frame of the least length.
constexpr std::uint32_t kLeastBehind = kMinFrameBytes - kTransportOffset - sizeof(TcpHeader);
static_assert(kLeastBehind == 6);

/// Adds these bytes to the sum: the part of the payload that buffers in virtual time hold.
std::uint64_t add_least_behind(const std::uint8_t* bytes, std::uint64_t sum) noexcept {
  std::uint32_t four;
  std::uint16_t two;
  std::memcpy(&four, bytes, sizeof four);
  std::memcpy(&two, bytes + sizeof four, sizeof two);
  return sum + four + two;
}

/// Returns the verdict of the device, or of write_frame(), about the checksum; without a verdict,
/// computes it.
/// @param tcp the part of it in the buffer, a header at least. The rest is zeros and adds nothing
bool tcp_checksum_valid(const Packet& packet, std::span<const std::uint8_t> tcp,
                        const Ipv4Header& ip, std::uint16_t tcp_length) noexcept {
  const std::uint64_t known = packet.ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
  if (known == RTE_MBUF_F_RX_L4_CKSUM_GOOD) return true;
  if (known == RTE_MBUF_F_RX_L4_CKSUM_BAD) return false;
  std::uint64_t sum = tcp_pseudo_header_sum(ip, tcp_length) + tcp_fixed_header_sum(tcp.data());
  // Headers without payload end in padding: what a frame has up to its least length.
  const auto behind = tcp.subspan(sizeof(TcpHeader));
  if (behind.size() == kLeastBehind) sum = add_least_behind(behind.data(), sum);
  else if (!behind.empty()) sum = checksum_add(behind, sum);
  return checksum_sum_valid(sum);
}

template <class Word>
void store(std::uint8_t* out, Word word) noexcept {
  std::memcpy(out, &word, sizeof word);
}

/// Writes the Ethernet header between two emulated hosts, see mac_of(), in words.
void write_ethernet(std::uint8_t* out, const FlowKey& flow) noexcept {
  constexpr std::uint16_t kFirstTwo = 0x0002;  // in memory order: 02 00
  constexpr std::uint16_t kIpv4 = be16(kEtherTypeIpv4);
  store(out, kFirstTwo);
  store(out + 2, be32(flow.destination_address));
  store(out + 6, kFirstTwo);
  store(out + 8, be32(flow.source_address));
  store(out + 12, kIpv4);
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
  std::uint8_t* tcp_bytes = bytes + kTransportOffset;
  const auto [tcp_header, tcp_sum] =
      encode_tcp(segment, flow.source_port, flow.destination_port,
                 {tcp_bytes, sizeof(TcpHeader) + kMaxTcpOptionBytes});
  const auto tcp_length = static_cast<std::uint16_t>(tcp_header + segment.payload_bytes);
  const auto ip_bytes = static_cast<std::uint16_t>(sizeof(Ipv4Header) + tcp_length);

  write_ethernet(bytes, flow);
  write_ipv4(bytes + kIpOffset, flow, kIpProtocolTcp, tos, ip_bytes);
  const std::uint64_t sum = tcp_sum + pseudo_header_sum(flow, kIpProtocolTcp, tcp_length);
  write_memory_order(reinterpret_cast<TcpHeader*>(tcp_bytes)->checksum,
                     static_cast<std::uint16_t>(~checksum_fold(sum)));

  const std::uint32_t frame_bytes = std::max(kMinFrameBytes, kIpOffset + ip_bytes);
  const std::uint32_t header_bytes = std::max(kMinFrameBytes, kTransportOffset + tcp_header);
  packet.data_len = static_cast<std::uint16_t>(full_payload ? frame_bytes : header_bytes);
  packet.pkt_len = packet.data_len;
  // Options or a signal of an earlier packet may be where this frame has payload or padding.
  // Clearing beyond this frame's length is harmless: all payload is zeros.
  if (full_payload) {
    static_assert(kTransportOffset + sizeof(TcpHeader) + kMaxTcpOptionBytes <= kWrittenEnd);
    std::memset(tcp_bytes + tcp_header, 0, kWrittenEnd - kTransportOffset - sizeof(TcpHeader));
  } else {
    std::memset(tcp_bytes + tcp_header, 0, kLeastBehind);
  }
  // Between hosts of one process (net_ring) the frame never leaves memory, so that the receiver
  // need not read all of it to verify the checksum. Sending drivers ignore receive flags.
  if (full_payload) packet.ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
  PacketMeta& m = meta(packet);
  m.next = nullptr;
  m.frame_bytes = frame_bytes;
  m.payload_bytes = segment.payload_bytes;
}

std::optional<FlowKey> peek_flow(Packet& packet) noexcept {
  if (rte_pktmbuf_data_len(&packet) < kTransportOffset + sizeof(TcpHeader)) return std::nullopt;
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ip.version_and_length != 0x45 || ip.protocol != kIpProtocolTcp) return std::nullopt;
  const auto& tcp = header_at<TcpHeader>(packet, kTransportOffset);
  return FlowKey{ip.source.get(), ip.destination.get(), tcp.source_port.get(),
                 tcp.destination_port.get()};
}

std::optional<DropReason> read_frame(Packet& packet, ReceivedFrame& frame) noexcept {
  const auto bytes = buffer(packet);
  if (bytes.size() < kTransportOffset + sizeof(TcpHeader)) return DropReason::kMalformed;
  const auto& ethernet = header_at<EthernetHeader>(packet, 0);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ethernet.ether_type.get() != kEtherTypeIpv4 || ip.version_and_length != 0x45)
    return DropReason::kNotIpv4;
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (ip_bytes < sizeof(Ipv4Header) + sizeof(TcpHeader) ||
      kIpOffset + ip_bytes > meta(packet).frame_bytes)
    return DropReason::kMalformed;
  if (!ipv4_checksum_valid(ip)) return DropReason::kBadChecksum;
  if (ip.protocol != kIpProtocolTcp) return DropReason::kNoConnection;
  const auto tcp_length = static_cast<std::uint16_t>(ip_bytes - sizeof(Ipv4Header));
  const auto tcp_present = bytes.subspan(
      kTransportOffset, std::min<std::size_t>(bytes.size() - kTransportOffset, tcp_length));
  if (!tcp_checksum_valid(packet, tcp_present, ip, tcp_length)) return DropReason::kBadChecksum;
  if (!decode_tcp(tcp_present, tcp_length, frame.segment)) return DropReason::kMalformed;
  frame.segment.ecn = ecn_of(ip.tos);
  frame.tos = ip.tos;
  const auto& tcp = *reinterpret_cast<const TcpHeader*>(tcp_present.data());
  frame.flow.source_address = ip.source.get();
  frame.flow.destination_address = ip.destination.get();
  frame.flow.source_port = tcp.source_port.get();
  frame.flow.destination_port = tcp.destination_port.get();
  return std::nullopt;
}

}  // namespace outrider::tg
