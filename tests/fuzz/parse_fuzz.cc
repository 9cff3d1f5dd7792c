// Bytes of a frame, as a device would hand them to the switch: parse_headers() must
// refuse or understand whatever they are, by any way through it, and what it names must
// lie within the frame. First byte: what is repaired before, so that lengths and
// checksums do not stop the fuzzer at the door.
#include <algorithm>
#include <vector>

#include "switch/forwarding/parse_headers.h"
#include "tests/fuzz/fuzz_main.h"

namespace outrider::fuzz {
namespace {

void repair(std::vector<std::uint8_t>& data, std::size_t offset) {
  if (data.size() < offset + sizeof(Ipv4Header)) return;
  auto& ip = *reinterpret_cast<Ipv4Header*>(data.data() + offset);
  ip.version_and_length = 0x45;
  ip.total_length.set(static_cast<std::uint16_t>(data.size() - offset));
  const std::uint16_t sum = ipv4_checksum(ip);
  std::memcpy(ip.checksum.raw.data(), &sum, sizeof sum);
}

void expect_within(const FrameSummary& summary, const HeaderFields& f, std::size_t present,
                   std::uint32_t frame_bytes) {
  FUZZ_REQUIRE(summary.is_ip() == (f.ip_offset != 0));
  FUZZ_REQUIRE(summary.network_offset <= present);
  FUZZ_REQUIRE(f.tcp_offset == 0 || f.tcp_offset + sizeof(TcpHeader) <= present);
  FUZZ_REQUIRE(f.tcp_offset + f.payload_bytes <= frame_bytes);
  FUZZ_REQUIRE(f.tcp_offset != 0 || (f.payload_bytes == 0 && f.sequence == 0 && f.tcp_flags == 0));
  if (summary.kind == FrameKind::kIpv4) FUZZ_REQUIRE(f.ip_offset + sizeof(Ipv4Header) <= present);
  if (summary.kind == FrameKind::kIpv6) FUZZ_REQUIRE(f.ip_offset + sizeof(Ipv6Header) <= present);
}

/// A tag more changes offsets alone, unless it is one too many.
void expect_same_when_tagged(std::vector<std::uint8_t> data, const FrameSummary& summary,
                             const HeaderFields& plain, std::uint32_t frame_bytes) {
  const std::uint8_t tag[] = {0x81, 0x00, 0x20, 0x07};
  data.insert(data.begin() + 12, tag, tag + sizeof tag);
  HeaderFields f;
  const FrameSummary with_tag = parse_headers(data, frame_bytes + sizeof tag, f);
  if (with_tag.kind == FrameKind::kRefused && with_tag.refused == DropReason::kVlanDepth) return;
  if (with_tag.kind == FrameKind::kRefused && with_tag.refused == DropReason::kIpv6Extensions)
    return;  // the transport header moved beyond what an offset can say
  FUZZ_REQUIRE(with_tag.kind == summary.kind && with_tag.vlan_control == 0x2007);
  FUZZ_REQUIRE(f.flow == plain.flow && f.payload_bytes == plain.payload_bytes);
}

}  // namespace

void run(FuzzInput in) {
  const std::uint8_t how = in.byte();
  const std::uint32_t absent = (how & 8) != 0 ? in.byte() : 0;  // payload that no buffer holds
  std::vector<std::uint8_t> data(in.data(), in.data() + std::min<std::size_t>(in.left(), 2048));
  if ((how & 1) != 0) repair(data, sizeof(EthernetHeader));
  if ((how & 2) != 0) repair(data, sizeof(EthernetHeader) + sizeof(VlanTag));
  data.shrink_to_fit();
  const auto frame_bytes = static_cast<std::uint32_t>(data.size()) + absent;
  HeaderFields fields;
  const FrameSummary summary = parse_headers(data, frame_bytes, fields);
  if (summary.kind == FrameKind::kRefused) return;
  expect_within(summary, fields, data.size(), frame_bytes);
  expect_same_when_tagged(data, summary, fields, frame_bytes);
}

}  // namespace outrider::fuzz
