// Bytes of a frame, as a NIC would hand them in: read_frame() and decode_tcp() must
// refuse or understand whatever they are, and what is understood must survive being
// written again. First byte: what is repaired before, so that checksums do not
// stop the fuzzer at the door.
#include <algorithm>
#include <memory>
#include <vector>

#include "common/net/checksum.h"
#include "tests/fuzz/fuzz_main.h"
#include "trafficgen/frames/frame.h"

namespace outrider::fuzz {
using namespace tg;
namespace {

constexpr std::size_t kIpOffset = sizeof(EthernetHeader);
constexpr std::size_t kTcpOffset = kIpOffset + sizeof(Ipv4Header);

/// An mbuf outside of any pool, its data behind a fence of the sanitizer.
class LonePacket {
 public:
  explicit LonePacket(std::vector<std::uint8_t>& data, std::uint32_t frame_bytes) {
    Packet& p = packet();
    p.buf_addr = data.data();
    p.data_len = static_cast<std::uint16_t>(data.size());
    p.pkt_len = p.data_len;
    new (&meta(p)) PacketMeta{.frame_bytes = frame_bytes};
  }
  Packet& packet() { return *reinterpret_cast<Packet*>(storage_.data()); }

 private:
  alignas(64) std::array<std::byte, sizeof(Packet) + sizeof(PacketMeta)> storage_{};
};

void expect_same(const TcpSegment& a, const TcpSegment& b) {
  FUZZ_REQUIRE(a.sequence == b.sequence && a.acknowledgment == b.acknowledgment);
  FUZZ_REQUIRE(a.flags == b.flags && a.window == b.window);
  FUZZ_REQUIRE(a.payload_bytes == b.payload_bytes && a.mss == b.mss);
  FUZZ_REQUIRE(a.window_scale == b.window_scale && a.sack_permitted == b.sack_permitted);
  FUZZ_REQUIRE(a.sack_blocks == b.sack_blocks && a.has_identity == b.has_identity);
  for (std::size_t i = 0; i < a.sack_blocks; ++i)
    FUZZ_REQUIRE(a.sack[i].begin == b.sack[i].begin && a.sack[i].end == b.sack[i].end);
}

bool options_fit(const TcpSegment& s) {
  return (s.has_identity ? 12U : 0U) + (s.mss != 0 ? 4U : 0U) + (s.window_scale >= 0 ? 3U : 0U) +
             (s.sack_permitted ? 2U : 0U) + (s.sack_blocks != 0 ? 2U + 8U * s.sack_blocks : 0U) <=
         kMaxTcpOptionBytes;
}

void write_again(const TcpSegment& read) {
  FUZZ_REQUIRE(read.sack_blocks <= read.sack.size() && read.window_scale <= 14);
  if (!options_fit(read)) return;
  std::array<std::uint8_t, sizeof(TcpHeader) + kMaxTcpOptionBytes> out{};
  const std::uint32_t header = encode_tcp(read, 1, 2, out).bytes;
  TcpSegment again;
  FUZZ_REQUIRE(decode_tcp({out.data(), header}, header + read.payload_bytes, again));
  expect_same(read, again);
}

void repair(std::vector<std::uint8_t>& data, std::uint8_t how) {
  if (data.size() < kTcpOffset + sizeof(TcpHeader)) return;
  auto& ethernet = *reinterpret_cast<EthernetHeader*>(data.data());
  auto& ip = *reinterpret_cast<Ipv4Header*>(data.data() + kIpOffset);
  if ((how & 1) != 0) {
    ethernet.ether_type.set(kEtherTypeIpv4);
    ip.version_and_length = 0x45;
    ip.protocol = kIpProtocolTcp;
    ip.total_length.set(static_cast<std::uint16_t>(data.size() - kIpOffset));
  }
  if ((how & 2) != 0 && ip.version_and_length == 0x45) {
    const std::uint16_t sum = ipv4_checksum(ip);
    std::memcpy(ip.checksum.raw.data(), &sum, sizeof sum);
  }
  if ((how & 4) != 0) {
    const std::size_t ip_bytes = ip.total_length.get();
    const std::size_t tcp_length =
        std::min(data.size() - kTcpOffset, ip_bytes - std::min(ip_bytes, sizeof(Ipv4Header)));
    auto& tcp = *reinterpret_cast<TcpHeader*>(data.data() + kTcpOffset);
    tcp.checksum.set(0);
    const std::uint64_t sum =
        checksum_add({data.data() + kTcpOffset, tcp_length},
                     tcp_pseudo_header_sum(ip, static_cast<std::uint16_t>(tcp_length)));
    const auto folded = static_cast<std::uint16_t>(~checksum_fold(sum));
    std::memcpy(tcp.checksum.raw.data(), &folded, sizeof folded);
  }
}

}  // namespace

void run(FuzzInput in) {
  const std::uint8_t how = in.byte();
  const std::uint32_t absent = (how & 8) != 0 ? in.byte() : 0;  // payload that no buffer holds
  std::vector<std::uint8_t> data(in.data(), in.data() + std::min<std::size_t>(in.left(), 2048));
  if (data.size() > kTcpOffset) {
    const std::span<const std::uint8_t> tcp(data.data() + kTcpOffset, data.size() - kTcpOffset);
    TcpSegment s;
    if (decode_tcp(tcp, static_cast<std::uint32_t>(tcp.size()) + absent, s)) write_again(s);
  }
  repair(data, how);
  LonePacket lone(data, static_cast<std::uint32_t>(data.size()) + absent);
  ReceivedFrame frame;
  if (!read_frame(lone.packet(), frame)) write_again(frame.segment);
}

}  // namespace outrider::fuzz
