// Goal: what the pipeline needs is read from every form of frame, and bytes of no form
// are refused by name without a read beyond the buffer. Method: frames built byte by
// byte; buffers of their exact length, so that the sanitizer sees the end.
#include "switch/forwarding/parse_headers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "common/core/random.h"
#include "switch/forwarding/plain_segment.h"
#include "tests/support/ipv6_frames.h"

namespace outrider::parse_headers_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Read {
  FrameSummary summary;
  HeaderFields fields;
};

Read read(const Bytes& frame, std::uint32_t frame_bytes) {
  // A buffer of its own of exactly these bytes.
  const auto exact = std::make_unique<std::uint8_t[]>(frame.size());
  std::copy(frame.begin(), frame.end(), exact.get());
  Read r;
  r.summary = parse_headers({exact.get(), frame.size()}, frame_bytes, r.fields);
  return r;
}
Read read(const Bytes& frame) { return read(frame, static_cast<std::uint32_t>(frame.size())); }

TEST(ParseHeaders, ReadsTaggedIpv4) {
  const FrameSpec spec{.tos = 0x0A, .sequence = 77, .payload_bytes = 100};
  const Bytes plain = bytes_of(spec);
  struct Row {
    Bytes frame;
    std::uint8_t offset;
    std::uint16_t control;
    const char* why;
  };
  const Row rows[] = {
      {plain, 14, 0, "untagged"},
      {tagged(plain, 0xA00A), 18, 0xA00A, "PCP 5, VID 10"},
      {tagged(plain, 0x0007, kEtherTypeServiceVlan), 18, 7, "an S-tag alone"},
      {tagged(tagged(plain, 0x2001), 0x6064, kEtherTypeServiceVlan), 22, 0x6064,
       "the outer tag counts"},
  };
  for (const auto& row : rows) {
    const Read r = read(row.frame);
    ASSERT_EQ(r.summary.kind, FrameKind::kIpv4) << row.why;
    EXPECT_EQ(r.summary.vlan_control, row.control) << row.why;
    EXPECT_EQ(r.summary.network_offset, row.offset) << row.why;
    EXPECT_EQ(r.summary.protocol, kIpProtocolTcp);
    EXPECT_EQ(r.fields.ip_offset, row.offset) << row.why;
    EXPECT_EQ(r.fields.tcp_offset, row.offset + 20) << row.why;
    EXPECT_EQ(r.fields.flow, spec.flow) << row.why;
    EXPECT_EQ(r.fields.payload_bytes, 100) << row.why;
    EXPECT_EQ(r.fields.tos, 0x0A);
  }
  EXPECT_EQ(pcp_of(0xA00A), 5);
  EXPECT_EQ(vid_of(0xA00A), 10);
  const Read deep = read(tagged(tagged(tagged(plain, 1), 2), 3));
  EXPECT_EQ(deep.summary.kind, FrameKind::kRefused);
  EXPECT_EQ(deep.summary.refused, DropReason::kVlanDepth);
}

TEST(ParseHeaders, ReadsUdpPorts) {
  const Read r = read(bytes_of({.protocol = kIpProtocolUdp, .payload_bytes = 30}));
  ASSERT_EQ(r.summary.kind, FrameKind::kIpv4);
  EXPECT_EQ(r.fields.flow, FrameSpec{}.flow);
  EXPECT_EQ(r.fields.tcp_offset, 0) << "not TCP";
  EXPECT_EQ(r.fields.payload_bytes, 0) << "of TCP alone";
  Bytes cut = bytes_of({.protocol = kIpProtocolUdp});
  cut[16] = 0, cut[17] = 27;
  reseal_ipv4(cut);
  EXPECT_EQ(read(cut).summary.refused, DropReason::kMalformed) << "no room for its header";
}

TEST(ParseHeaders, ReadsIpv6) {
  const Ipv6FrameSpec spec{.traffic_class = 0xB9, .sequence = 0xFEDCBA98, .payload_bytes = 1000};
  const Read r = read(ipv6_bytes_of(spec));
  ASSERT_EQ(r.summary.kind, FrameKind::kIpv6);
  EXPECT_EQ(r.summary.protocol, kIpProtocolTcp);
  EXPECT_EQ(r.fields.ip_offset, 14);
  EXPECT_EQ(r.fields.tcp_offset, 54);
  EXPECT_EQ(r.fields.tos, 0xB9);
  EXPECT_EQ(r.fields.sequence, spec.sequence);
  EXPECT_EQ(r.fields.payload_bytes, 1000);
  EXPECT_EQ(r.fields.flow.source_port, 40'000);
  EXPECT_EQ(r.fields.flow.destination_port, 5000);
  EXPECT_EQ(r.fields.flow.source_address, fold_ipv6(spec.source));
  EXPECT_EQ(r.fields.flow.destination_address, fold_ipv6(spec.destination));
  const Read in_vlan = read(tagged(ipv6_bytes_of(spec), 0x4123));
  EXPECT_EQ(in_vlan.fields.tcp_offset, 58);
  EXPECT_EQ(in_vlan.summary.vlan_control, 0x4123);
}

TEST(ParseHeaders, WalksExtensionHeaders) {
  constexpr std::uint8_t kHop = 0, kRouting = 43, kFragment = 44, kAuthentication = 51,
                         kOptions = 60;
  struct Row {
    Ipv6FrameSpec spec;
    bool ports;
    const char* why;
  };
  const Row rows[] = {
      {{.extensions = {kHop}}, true, "hop-by-hop"},
      {{.extensions = {kHop, kRouting, kOptions}}, true, "three of them"},
      {{.extensions = {kFragment}}, true, "the first fragment has its transport header"},
      {{.extensions = {kFragment}, .fragment_offset = 1}, false, "a later fragment has none"},
      {{.extensions = {kHop, kFragment}, .fragment_offset = 0x1FFF}, false, "the last possible"},
      {{.protocol = 59}, false, "no next header"},
      {{.protocol = 58, .payload_bytes = 8}, false, "ICMPv6"},
      {{.protocol = kIpProtocolUdp, .extensions = {kOptions}}, true, "UDP behind options"},
      {{.extensions = Bytes(kMaxIpv6Extensions, kOptions)}, true, "as many as are walked"},
      {{.extensions = {kHop, kAuthentication}}, false, "its contents may not be rewritten"},
  };
  for (const auto& row : rows) {
    const Read r = read(ipv6_bytes_of(row.spec));
    ASSERT_EQ(r.summary.kind, FrameKind::kIpv6) << row.why;
    EXPECT_EQ(r.fields.flow.destination_port, row.ports ? 5000 : 0) << row.why;
    const bool tcp = row.ports && row.spec.protocol == kIpProtocolTcp;
    EXPECT_EQ(r.fields.tcp_offset, tcp ? 54 + 8 * row.spec.extensions.size() : 0) << row.why;
  }
  const Read chain =
      read(ipv6_bytes_of(Ipv6FrameSpec{.extensions = Bytes(kMaxIpv6Extensions + 1, 60)}));
  EXPECT_EQ(chain.summary.kind, FrameKind::kRefused);
  EXPECT_EQ(chain.summary.refused, DropReason::kIpv6Extensions);
  Bytes far = ipv6_bytes_of(Ipv6FrameSpec{.payload_bytes = 400, .extensions = {60}});
  far[14 + 40 + 1] = 26;  // 216 bytes of options: transport at 270
  EXPECT_EQ(read(far).summary.refused, DropReason::kIpv6Extensions);
}

TEST(ParseHeaders, RefusesByName) {
  struct Row {
    std::function<void(Bytes&)> spoil;
    DropReason reason;
    const char* why;
  };
  const Row rows[] = {
      {[](Bytes& f) { f[14] = 0x45; }, DropReason::kNotIpv4, "IPv6 EtherType, version 4"},
      {[](Bytes& f) { f[18] = 0x40; }, DropReason::kMalformed, "payload beyond the frame"},
      {[](Bytes& f) { f[19] = 19; }, DropReason::kMalformed, "no room for a TCP header"},
      {[](Bytes& f) { f[54 + 12] = 0x40; }, DropReason::kMalformed, "TCP header of 16 bytes"},
      {[](Bytes& f) { f[20] = 0, f[55] = 200; }, DropReason::kMalformed,
       "an extension header beyond the packet"},
      {[](Bytes& f) { f.resize(53); }, DropReason::kMalformed, "half an IPv6 header"},
      {[](Bytes& f) { f[12] = 0x81, f[13] = 0, f.resize(17); }, DropReason::kMalformed,
       "half a tag"},
      {[](Bytes& f) { f.resize(13); }, DropReason::kMalformed, "shorter than Ethernet"},
      {[](Bytes& f) { f[12] = 8, f[13] = 6, f.resize(41); }, DropReason::kMalformed,
       "ARP cut short"},
  };
  for (const auto& row : rows) {
    Bytes frame = ipv6_bytes_of(Ipv6FrameSpec{.payload_bytes = 60});
    row.spoil(frame);
    const Read r = read(frame);
    EXPECT_EQ(r.summary.kind, FrameKind::kRefused) << row.why;
    EXPECT_EQ(r.summary.refused, row.reason) << row.why;
  }
}

TEST(ParseHeaders, ReadsArpAndLeavesTheRestToBridges) {
  const Bytes request = arp_request(0x0A000101, 0x0A0003FE);
  for (const Bytes& frame : {request, tagged(request, 5)}) {
    const Read r = read(frame);
    EXPECT_EQ(r.summary.kind, FrameKind::kArp);
    EXPECT_EQ(r.fields.flow, (FlowKey{0x0A000101, 0x0A0003FE, 0, 0}));
    EXPECT_EQ(r.fields.ip_offset, 0);
    EXPECT_EQ(r.summary.network_offset, frame.size() == 60 ? 14 : 18);
  }
  Bytes reverse = request;
  reverse[21] = 3;  // RARP's operation
  EXPECT_EQ(read(reverse).summary.kind, FrameKind::kOther);
  Bytes lldp = request;
  lldp[12] = 0x88, lldp[13] = 0xCC;
  EXPECT_EQ(read(lldp).summary.kind, FrameKind::kOther);
}

// The same answers whether a frame is tagged or not: the two ways through the parser.
TEST(ParseHeaders, ATagChangesOffsetsAlone) {
  RandomStream random(3, 0, RandomPurpose::kTest);
  std::uint64_t accepted = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes frame = bytes_of({.payload_bytes = 60, .ip_options = Bytes(8, 1)});
    for (std::uint32_t n = random.next_u32() % 3; n > 0; --n)
      frame[14 + random.next_u32() % 50] = static_cast<std::uint8_t>(random.next_u32());
    if (i % 2 == 0) reseal_ipv4(frame);
    const Read a = read(frame);
    const Read b = read(tagged(frame, 0x3005));
    ASSERT_EQ(a.summary.kind, b.summary.kind);
    ASSERT_EQ(a.summary.refused, b.summary.refused);
    ++(a.summary.kind == FrameKind::kRefused ? refused : accepted);
    if (a.summary.kind == FrameKind::kRefused) continue;
    ASSERT_EQ(a.fields.flow, b.fields.flow);
    ASSERT_EQ(a.fields.payload_bytes, b.fields.payload_bytes);
    ASSERT_EQ(a.fields.tcp_offset == 0, b.fields.tcp_offset == 0);
    ASSERT_EQ(a.fields.ip_offset + 4, b.fields.ip_offset);
  }
  EXPECT_GT(accepted, 1'000U);
  EXPECT_GT(refused, 1'000U);
}

// Damaged and cut anywhere: always an answer, and what is named lies within the frame.
TEST(ParseHeaders, DamageIsSafe) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  const Bytes wholes[] = {
      ipv6_bytes_of(Ipv6FrameSpec{.payload_bytes = 40, .extensions = {0, 43, 44, 60}}),
      tagged(ipv6_bytes_of(Ipv6FrameSpec{.protocol = kIpProtocolUdp, .payload_bytes = 40}), 9),
      tagged(tagged(bytes_of(FrameSpec{.payload_bytes = 40}), 1), 2),
      arp_request(1, 2),
  };
  std::array<std::uint64_t, 5> kinds{};
  for (int i = 0; i < 100'000; ++i) {
    Bytes frame = wholes[static_cast<std::size_t>(i) % std::size(wholes)];
    const auto claimed = static_cast<std::uint32_t>(frame.size());
    for (std::uint32_t n = random.next_u32() % 4; n > 0; --n)
      frame[12 + random.next_u32() % (frame.size() - 12)] = static_cast<std::uint8_t>(
          random.next_u32() % 3 == 0 ? random.next_u32() % 64 : random.next_u32());
    if (random.next_u32() % 3 == 0) frame.resize(random.next_u32() % frame.size());
    const Read r = read(frame, claimed);
    ++kinds[static_cast<std::size_t>(r.summary.kind)];
    if (r.summary.kind == FrameKind::kRefused) continue;
    ASSERT_LE(r.fields.tcp_offset + r.fields.payload_bytes, claimed);
    if (r.fields.tcp_offset != 0) {
      ASSERT_LE(r.fields.tcp_offset + 20U, frame.size());
    }
    ASSERT_LE(r.summary.network_offset, frame.size());
  }
  for (const auto n : kinds) EXPECT_GT(n, 500U);
}

// Addresses that differ in one bit, or are numbered in sequence, get numbers of their own.
TEST(PlainSegment, IsReadAsByTheGeneralWay) {
  const FrameSpec spec{.tos = 0x0A, .sequence = 77, .payload_bytes = 30};
  const Bytes plain = bytes_of(spec);
  Bytes with_options = plain;
  with_options[46] = 0x80;  // three words of payload become TCP options
  const Bytes forms[] = {plain, with_options, tagged(plain, 0xA00A), ipv6_bytes_of({})};
  RandomStream random(7, 1, RandomPurpose::kImpairment);
  std::uint32_t taken = 0, refused = 0, other = 0;
  for (int n = 0; n < 200'000; ++n) {
    Bytes frame = forms[random.next_u32() % std::size(forms)];
    for (std::uint32_t left = random.next_u32() % 3; left != 0; --left)
      frame[12 + random.next_u32() % 40] = static_cast<std::uint8_t>(random.next_u32());
    if (random.next_u32() % 2 == 0) {  // most damage would only be a wrong checksum
      auto& ip = *reinterpret_cast<Ipv4Header*>(frame.data() + sizeof(EthernetHeader));
      if (ip.header_bytes() <= 40) {
        const std::uint16_t sum = ipv4_checksum(ip);
        std::memcpy(&ip.checksum, &sum, sizeof sum);
      }
    }
    const auto frame_bytes = static_cast<std::uint32_t>(frame.size());
    if (random.next_u32() % 8 == 0) frame.resize(random.next_u32() % frame.size());
    const Read general = read(frame, frame_bytes);
    const auto exact = std::make_unique<std::uint8_t[]>(frame.size());
    std::copy(frame.begin(), frame.end(), exact.get());
    HeaderFields fields;
    const bool is_plain = parse_plain_segment({exact.get(), frame.size()}, frame_bytes, fields);
    const HeaderFields& expected = general.fields;
    ASSERT_EQ(is_plain, general.summary.kind == FrameKind::kIpv4 && expected.ip_offset == 14 &&
                            expected.tcp_offset == 34);
    refused += general.summary.kind == FrameKind::kRefused;
    other += !is_plain && general.summary.kind != FrameKind::kRefused;
    if (!is_plain) continue;
    ++taken;
    EXPECT_EQ(general.summary.protocol, kPlainSegment.protocol);
    EXPECT_EQ(general.summary.network_offset, kPlainSegment.network_offset);
    EXPECT_FALSE(general.summary.vlan_tagged);
    EXPECT_EQ(fields.flow, expected.flow);
    EXPECT_EQ(fields.sequence, expected.sequence);
    EXPECT_EQ(fields.payload_bytes, expected.payload_bytes);
    EXPECT_EQ(fields.tcp_flags, expected.tcp_flags);
    EXPECT_EQ(fields.tos, expected.tos);
  }
  EXPECT_GT(taken, 10'000U);
  EXPECT_GT(refused, 10'000U);
  EXPECT_GT(other, 10'000U);
}

TEST(FoldIpv6, KeepsNeighboursApart) {
  std::vector<std::uint32_t> folded;
  const Ipv6Address base = ip6("2001:db8::");
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Ipv6Address a = base;
    a[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    folded.push_back(fold_ipv6(a));
  }
  for (std::uint32_t host = 0; host < 20'000; ++host) {
    Ipv6Address a = base;
    a[14] = static_cast<std::uint8_t>(host >> 8), a[15] = static_cast<std::uint8_t>(host);
    a[13] = 0xA5;
    folded.push_back(fold_ipv6(a));
  }
  std::ranges::sort(folded);
  EXPECT_EQ(std::ranges::adjacent_find(folded), folded.end());
  EXPECT_GE(folded.front(), 0xF000'0000U) << "no IPv4 host has such an address";
}

}  // namespace
}  // namespace outrider::parse_headers_test
