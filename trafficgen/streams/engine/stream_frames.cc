#include "trafficgen/streams/engine/stream_frames.h"

#include <utility>

#include "common/config/addresses.h"
#include "trafficgen/frames/frame.h"

namespace outrider::tg {
namespace {

constexpr std::uint8_t kInitialTtl = 64;
constexpr std::uint16_t kDontFragment = 0x4000;

MacAddress mac_or(const std::optional<std::string>& text, std::uint32_t address) {
  return text ? *parse_mac(*text).value : mac_of(address);
}

}  // namespace

StreamFrames::StreamFrames(const StreamConfig& s, std::uint32_t id,
                           std::shared_ptr<const StreamFlows> flows,
                           const std::vector<std::uint32_t>& sizes)
    : flows_(std::move(flows)),
      stream_bits_(id << kStampFlowBits),
      full_checksum_(s.udp_checksum == UdpChecksum::kFull),
      record_bytes_(s.hops * static_cast<std::uint32_t>(hop_trace::kRecordBytes)) {
  const FlowKey first = flow_of(s, 0);
  for (const std::uint32_t size : sizes) {
    Template& t = templates_.emplace_back();
    t.buffer_bytes = static_cast<std::uint16_t>(size - kFcsBytes);
    auto& ethernet = *reinterpret_cast<EthernetHeader*>(t.head.data());
    auto& ip = *reinterpret_cast<Ipv4Header*>(t.head.data() + kStreamIpOffset);
    ethernet.destination = mac_or(s.destination_mac, first.destination_address);
    ethernet.source = mac_or(s.source_mac, first.source_address);
    ethernet.ether_type.set(kEtherTypeIpv4);
    ip.version_and_length = 0x45;
    ip.tos = static_cast<std::uint8_t>((unsigned{s.dscp} << 2) | static_cast<unsigned>(s.ecn));
    ip.total_length.set(static_cast<std::uint16_t>(t.buffer_bytes - kStreamIpOffset));
    ip.fragment.set(kDontFragment);  // no identification is needed: RFC 6864, section 4.1
    ip.ttl = kInitialTtl;
    ip.protocol = kIpProtocolUdp;
    t.ip_sum = checksum_fold(ipv4_header_sum(ip));
    const std::uint16_t udp_bytes =
        be16(static_cast<std::uint16_t>(t.buffer_bytes - kStreamUdpOffset));
    std::memcpy(t.head.data() + kStreamUdpOffset + 4, &udp_bytes, sizeof udp_bytes);
    const std::uint32_t magic = be32(kStampMagic);
    std::memcpy(t.head.data() + kStreamStampOffset, &magic, sizeof magic);
    // RFC 768: the length counts twice, in the pseudo header and in the header.
    t.udp_sum = 2U * udp_bytes + be16(kIpProtocolUdp) + (magic & 0xFFFF) + (magic >> 16);
    if (s.hops == 0) continue;
    const std::array trace{be16(hop_trace::kMagic), be16(static_cast<std::uint16_t>(s.hops << 8))};
    std::memcpy(t.head.data() + kStreamStampOffset + kStampBytes, trace.data(), sizeof trace);
    t.udp_sum += std::uint32_t{trace[0]} + trace[1];
  }
}

void StreamFrames::restamp(std::uint8_t* frame, std::uint64_t ticks) const noexcept {
  using namespace stream_frames_detail;
  std::uint8_t* at = frame + kStreamStampOffset + kStampTicksOffset;
  std::uint64_t before = 0;
  std::memcpy(&before, at, kStampTicksBytes);
  const std::uint64_t after = stamp_ticks(ticks);
  std::memcpy(at, &after, kStampTicksBytes);
  if (!full_checksum_) return;
  // RFC 1624, equation 3, over the three words at once, and a zero: ~HC' = ~HC + ~m + m'.
  std::uint16_t checksum;
  std::memcpy(&checksum, frame + kStreamUdpOffset + 6, sizeof checksum);
  put(frame + kStreamUdpOffset + 6,
      udp_checksum(static_cast<std::uint16_t>(~checksum) + halves(~before) + halves(after)));
}

}  // namespace outrider::tg
