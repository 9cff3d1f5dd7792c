#include "trafficgen/frames/datagram_frame.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "common/dpdk/packet/known_headers.h"
#include "common/net/checksum.h"
#include "common/net/roce.h"
#include "trafficgen/frames/frame.h"
#include "trafficgen/frames/ipv4_frame.h"
#include "trafficgen/frames/stale_trailer.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kPayloadOffset = kTransportOffset + sizeof(UdpHeader);

static_assert(kPayloadOffset + OutgoingDatagram::kMaxHeadBytes <= kWrittenEnd);

/// Writes the ICRC behind what the other writers have written. @pre the frame is whole in the
/// buffer
/// @param udp_bytes length of the UDP header and of what follows it, ICRC included
void write_icrc(Packet& packet, std::uint32_t udp_bytes) noexcept {
  auto* bytes = rte_pktmbuf_mtod(&packet, std::uint8_t*);
  const std::uint32_t end = kTransportOffset + udp_bytes - roce::kIcrcBytes;
  const std::uint32_t present = std::min(end, kWrittenEnd);
  const std::uint32_t icrc = roce::icrc({bytes + kIpOffset, present - kIpOffset}, end - kIpOffset);
  std::memcpy(bytes + end, &icrc, sizeof icrc);
  // The next writer clears up to kWrittenEnd.
  if (end + roce::kIcrcBytes > kWrittenEnd) note_trailer(packet, end);
}

void read_trailer(Packet& packet, ReceivedDatagram& datagram, std::uint32_t udp_bytes) noexcept {
  if (datagram.flow.destination_port != roce::kPort || datagram.payload_bytes < roce::kIcrcBytes)
    return;
  const auto bytes = buffer(packet);
  const std::uint32_t end = kTransportOffset + udp_bytes;
  if (end <= bytes.size())
    std::memcpy(&datagram.trailer, bytes.data() + end - roce::kIcrcBytes, roce::kIcrcBytes);
}

/// Reads a packet that a host of this process wrote. @pre knows_roce(packet)
void read_known_roce(Packet& packet, ReceivedDatagram& datagram) noexcept {
  const PacketMeta& m = meta(packet);
  const auto bytes = buffer(packet);
  datagram.flow = m.flow;
  datagram.ecn = ecn_of(header_at<Ipv4Header>(packet, kIpOffset).tos);
  // Each has a header or payload behind its first header, so none is padded.
  constexpr std::uint32_t kLeastBehind = 4;
  static_assert(kPayloadOffset + roce::kBthBytes + kLeastBehind + roce::kIcrcBytes >
                kMinFrameBytes);
  datagram.payload_bytes = m.frame_bytes - kPayloadOffset;
  datagram.present = bytes.subspan(
      kPayloadOffset, std::min<std::size_t>(bytes.size() - kPayloadOffset, datagram.payload_bytes));
  datagram.icrc_known = true;
}
}  // namespace

void write_datagram_frame(Packet& packet, const FlowKey& flow, const OutgoingDatagram& datagram,
                          bool full_payload) noexcept {
  assert(datagram.head_bytes <= datagram.head.size());
  auto* bytes = rte_pktmbuf_mtod(&packet, std::uint8_t*);
  auto& ethernet = *reinterpret_cast<EthernetHeader*>(bytes);
  ethernet.destination = mac_of(flow.destination_address);
  ethernet.source = mac_of(flow.source_address);
  ethernet.ether_type.set(kEtherTypeIpv4);
  const std::uint32_t udp_bytes = static_cast<std::uint32_t>(sizeof(UdpHeader)) +
                                  datagram.head_bytes + datagram.value_bytes +
                                  (datagram.icrc ? roce::kIcrcBytes : 0);
  write_ipv4(bytes + kIpOffset, flow, kIpProtocolUdp, datagram.tos,
             static_cast<std::uint16_t>(sizeof(Ipv4Header) + udp_bytes));
  const std::span head(datagram.head.data(), datagram.head_bytes);
  std::memcpy(bytes + kPayloadOffset, head.data(), head.size());
  // Clears what an earlier packet may have left after the head of this one.
  std::memset(bytes + kPayloadOffset + head.size(), 0, kWrittenEnd - kPayloadOffset - head.size());
  const auto length = static_cast<std::uint16_t>(udp_bytes);
  if (datagram.icrc) write_udp_unsummed(bytes + kTransportOffset, flow, length);
  else write_udp(bytes + kTransportOffset, flow, length, head);

  const std::uint32_t frame_bytes = std::max(kMinFrameBytes, kTransportOffset + udp_bytes);
  const bool whole = full_payload || (datagram.icrc && datagram.value_bytes == 0);
  const std::uint32_t head_end = std::max(kMinFrameBytes, kPayloadOffset + datagram.head_bytes);
  packet.data_len = static_cast<std::uint16_t>(whole ? frame_bytes : head_end);
  packet.pkt_len = packet.data_len;
  if (full_payload) packet.ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;  // see write_frame()
  PacketMeta& m = meta(packet);
  m.next = nullptr;
  m.frame_bytes = frame_bytes;
  m.payload_bytes = 0;  // TCP payload
  if (!datagram.icrc) return;
  if (whole) write_icrc(packet, udp_bytes);
  if (!full_payload) note_roce(packet, flow);
}

std::optional<DropReason> read_datagram_frame(Packet& packet, ReceivedDatagram& datagram) noexcept {
  if (knows_roce(packet)) {
    read_known_roce(packet, datagram);
    return std::nullopt;
  }
  const auto bytes = buffer(packet);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  constexpr std::uint16_t kFragment = 0x3FFF;  // more to come, or not the first
  if (ip.protocol != kIpProtocolUdp || (ip.fragment.get() & kFragment) != 0)
    return DropReason::kNoConnection;
  if (bytes.size() < kPayloadOffset) return DropReason::kMalformed;
  const auto& udp = header_at<UdpHeader>(packet, kTransportOffset);
  const std::uint16_t udp_bytes = udp.length.get();
  if (udp_bytes < sizeof(UdpHeader) || sizeof(Ipv4Header) + udp_bytes != ip.total_length.get() ||
      kTransportOffset + udp_bytes > meta(packet).frame_bytes)
    return DropReason::kMalformed;
  datagram.flow = {ip.source.get(), ip.destination.get(), udp.source_port.get(),
                   udp.destination_port.get()};
  datagram.ecn = ecn_of(ip.tos);
  datagram.payload_bytes = udp_bytes - static_cast<std::uint32_t>(sizeof(UdpHeader));
  const auto udp_present = bytes.subspan(
      kTransportOffset, std::min<std::size_t>(bytes.size() - kTransportOffset, udp_bytes));
  datagram.present = udp_present.subspan(sizeof(UdpHeader));
  datagram.ip = bytes.subspan(kIpOffset, udp_present.size() + sizeof(Ipv4Header));
  read_trailer(packet, datagram, udp_bytes);
  const std::uint64_t known = packet.ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
  if (known == RTE_MBUF_F_RX_L4_CKSUM_BAD) return DropReason::kBadChecksum;
  if (known == RTE_MBUF_F_RX_L4_CKSUM_GOOD || (udp.checksum.raw[0] | udp.checksum.raw[1]) == 0)
    return std::nullopt;
  // Bytes that are not in the buffer are zeros.
  if (checksum_fold(checksum_add(
          udp_present, pseudo_header_sum(datagram.flow, kIpProtocolUdp, udp_bytes))) != 0xFFFF)
    return DropReason::kBadChecksum;
  return std::nullopt;
}

}  // namespace outrider::tg
