#include "trafficgen/frames/arp.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "common/net/checksum.h"
#include "trafficgen/frames/ipv4_frame.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kIcmpOffset = kTransportOffset;
constexpr std::uint8_t kIpProtocolIcmp = 1;
constexpr std::uint16_t kMoreFragmentsAndOffset = 0x3FFF;

/// ICMP header of RFC 792; identifier, sequence number and data follow.
struct IcmpHeader {
  static constexpr std::uint8_t kEchoReply = 0;
  static constexpr std::uint8_t kEchoRequest = 8;
  static constexpr std::uint32_t kBytes = 8;  ///< with identifier and sequence number

  std::uint8_t type;
  std::uint8_t code;
  Be16 checksum;
};

/// Returns the bytes of the ICMP message, or 0 if the frame holds no echo request.
std::uint32_t echo_request_bytes(Packet& packet) noexcept {
  const auto bytes = buffer(packet);
  if (bytes.size() < kIcmpOffset + IcmpHeader::kBytes) return 0;
  const auto& ethernet = header_at<EthernetHeader>(packet, 0);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (ethernet.ether_type.get() != kEtherTypeIpv4 || ip.version_and_length != 0x45 ||
      ip.protocol != kIpProtocolIcmp || (ip.fragment.get() & kMoreFragmentsAndOffset) != 0 ||
      ip_bytes < sizeof(Ipv4Header) + IcmpHeader::kBytes || kIpOffset + ip_bytes > bytes.size() ||
      !ipv4_checksum_valid(ip))
    return 0;
  const auto& icmp = header_at<IcmpHeader>(packet, kIcmpOffset);
  const std::uint32_t icmp_bytes = ip_bytes - static_cast<std::uint32_t>(sizeof(Ipv4Header));
  if (icmp.type != IcmpHeader::kEchoRequest || icmp.code != 0 ||
      checksum_fold(checksum_add(bytes.subspan(kIcmpOffset, icmp_bytes), 0)) != 0xFFFF)
    return 0;
  return icmp_bytes;
}
}  // namespace

void write_arp_request(Packet& packet, const MacAddress& sender_mac, std::uint32_t sender,
                       std::uint32_t target) noexcept {
  auto* bytes = rte_pktmbuf_mtod(&packet, std::uint8_t*);
  std::memset(bytes, 0, kMinFrameBytes);
  auto& ethernet = *reinterpret_cast<EthernetHeader*>(bytes);
  ethernet.destination = kBroadcastMac;
  ethernet.source = sender_mac;
  ethernet.ether_type.set(kEtherTypeArp);
  auto& arp = *reinterpret_cast<ArpPacket*>(bytes + sizeof(EthernetHeader));
  arp.hardware_type.set(1);
  arp.protocol_type.set(kEtherTypeIpv4);
  arp.hardware_bytes = sizeof(MacAddress);
  arp.protocol_bytes = sizeof(Be32);
  arp.operation.set(ArpPacket::kRequest);
  arp.sender_mac = sender_mac;
  arp.sender_address.set(sender);
  arp.target_address.set(target);
  packet.data_len = kMinFrameBytes;
  packet.pkt_len = kMinFrameBytes;
  meta(packet) = PacketMeta{};
  meta(packet).frame_bytes = kMinFrameBytes;
}

ArpPacket* arp_of(Packet& packet) noexcept {
  if (buffer(packet).size() < sizeof(EthernetHeader) + sizeof(ArpPacket)) return nullptr;
  if (header_at<EthernetHeader>(packet, 0).ether_type.get() != kEtherTypeArp) return nullptr;
  auto& arp = header_at<ArpPacket>(packet, sizeof(EthernetHeader));
  return arp.is_ipv4_over_ethernet() ? &arp : nullptr;
}

void answer_arp(Packet& packet, ArpPacket& arp, const MacAddress& mac) noexcept {
  auto& ethernet = header_at<EthernetHeader>(packet, 0);
  ethernet.destination = arp.sender_mac;
  ethernet.source = mac;
  arp.operation.set(ArpPacket::kReply);
  const Be32 asked_for = arp.target_address;
  arp.target_mac = arp.sender_mac;
  arp.target_address = arp.sender_address;
  arp.sender_mac = mac;
  arp.sender_address = asked_for;
}

bool answer_echo(Packet& packet) noexcept {
  if (echo_request_bytes(packet) == 0) return false;
  auto& ethernet = header_at<EthernetHeader>(packet, 0);
  std::swap(ethernet.destination, ethernet.source);
  auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  std::swap(ip.source, ip.destination);  // swapping words keeps the checksum
  auto& icmp = header_at<IcmpHeader>(packet, kIcmpOffset);
  std::uint16_t before, after, checksum;
  std::memcpy(&before, &icmp, sizeof before);  // type and code are one word
  icmp.type = IcmpHeader::kEchoReply;
  std::memcpy(&after, &icmp, sizeof after);
  std::memcpy(&checksum, icmp.checksum.raw.data(), sizeof checksum);
  checksum = checksum_update(checksum, before, after);
  std::memcpy(icmp.checksum.raw.data(), &checksum, sizeof checksum);
  return true;
}

}  // namespace outrider::tg
