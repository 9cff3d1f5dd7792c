#include "switch/forwarding/parse.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/core/random.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider::parse_test {
using namespace sw;
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Parsed {
  std::optional<DropReason> reason;
  PacketMeta meta{};
};

Parsed parse_bytes(rte_mempool& pool, const Bytes& frame) {
  Packet* packet = packet_of(pool, frame);
  Parsed p;
  const FrameSummary summary = parse(*packet);
  if (summary.kind == FrameKind::kRefused) p.reason = summary.refused;
  if (summary.kind == FrameKind::kOther) p.reason = DropReason::kNotIpv4;
  p.meta = meta(*packet);
  release(packet);
  return p;
}

TEST(Parse, ReadsWhatThePipelineNeeds) {
  TestPool pool(64, 2048);  // the longest headers exceed what virtual packets keep
  FrameSpec spec{.flow = {0x0A000102, 0x0A000304, 40'001, 5001},
                 .tos = 0x8A,
                 .sequence = 0xFEDCBA98,
                 .tcp_flags = kTcpAck | kTcpFin,
                 .payload_bytes = 1000};
  for (const std::size_t ip_options : {0U, 4U, 40U}) {
    for (const std::size_t tcp_options : {0U, 12U, 40U}) {
      spec.ip_options.assign(ip_options, 1);
      spec.tcp_options.assign(tcp_options, 1);
      const Parsed p = parse_bytes(pool.get(), bytes_of(spec));
      ASSERT_EQ(p.reason, std::nullopt) << ip_options << " " << tcp_options;
      EXPECT_EQ(p.meta.flow, spec.flow);
      EXPECT_EQ(p.meta.sequence, spec.sequence);
      EXPECT_EQ(p.meta.tcp_flags, spec.tcp_flags);
      EXPECT_EQ(p.meta.tos, spec.tos);
      EXPECT_EQ(p.meta.ip_offset, 14);
      EXPECT_EQ(p.meta.tcp_offset, 34 + ip_options);
      EXPECT_EQ(p.meta.payload_bytes, 1000) << "on the wire, not in the buffer";
    }
  }
}

TEST(Parse, PaddingOfShortFramesIsNotPayload) {
  TestPool pool;
  const Bytes frame = bytes_of({.payload_bytes = 0});
  ASSERT_EQ(frame.size(), 60U) << "54 bytes of headers and 6 of padding";
  const Parsed p = parse_bytes(pool.get(), frame);
  ASSERT_EQ(p.reason, std::nullopt);
  EXPECT_EQ(p.meta.payload_bytes, 0);
}

TEST(Parse, WhatIsNeitherTcpNorUdpHasNoPorts) {
  TestPool pool;
  struct Row {
    FrameSpec spec;
    bool ports;
    const char* why;
  };
  const Row rows[] = {
      {{.protocol = kIpProtocolUdp, .payload_bytes = 100}, true, "UDP"},
      {{.protocol = 1}, false, "ICMP"},
      {{.fragment = 0x2000, .payload_bytes = 100}, true, "first fragment: its TCP header is there"},
      {{.fragment = 0x2001, .payload_bytes = 100},
       false,
       "a later fragment: payload looks like ports"},
      {{.fragment = 0x00B9, .payload_bytes = 100}, false, "the last fragment"},
      {{.fragment = 0x4000, .payload_bytes = 100}, true, "do not fragment"},
  };
  for (const auto& row : rows) {
    const Parsed p = parse_bytes(pool.get(), bytes_of(row.spec));
    ASSERT_EQ(p.reason, std::nullopt) << row.why;
    const bool tcp = row.ports && row.spec.protocol == kIpProtocolTcp;
    EXPECT_EQ(p.meta.tcp_offset != 0, tcp) << row.why;
    EXPECT_EQ(p.meta.flow.source_port, row.ports ? row.spec.flow.source_port : 0) << row.why;
    EXPECT_EQ(p.meta.flow.destination_port, row.ports ? row.spec.flow.destination_port : 0);
    EXPECT_EQ(p.meta.flow.source_address, row.spec.flow.source_address) << row.why;
    if (!tcp) {
      EXPECT_EQ(p.meta.payload_bytes, 0) << row.why;
    }
  }
}

TEST(Parse, RefusesByName) {
  TestPool pool;
  struct Row {
    std::function<void(Bytes&)> spoil;
    DropReason reason;
    const char* why;
  };
  const auto set = [](std::size_t at, std::uint8_t v) {
    return [at, v](Bytes& f) {
      f[at] = v;
      if (at != 24) reseal_ipv4(f);
    };
  };
  const Row rows[] = {
      {set(12, 0x86), DropReason::kNotIpv4, "EtherType of something else"},
      {set(13, 0x06), DropReason::kNotIpv4, "ARP"},
      {[](Bytes& f) { f[14] = 0x65; }, DropReason::kNotIpv4, "version 6"},
      {[](Bytes& f) { f[14] = 0x55; }, DropReason::kNotIpv4, "version 5"},
      {[](Bytes& f) { f[14] = 0x44; }, DropReason::kMalformed, "header of 16 bytes"},
      {[](Bytes& f) { f[14] = 0x40; }, DropReason::kMalformed, "header of no bytes"},
      {set(16, 0x40), DropReason::kMalformed, "total length beyond the frame"},
      {[](Bytes& f) { f[16] = 0, f[17] = 19, reseal_ipv4(f); }, DropReason::kMalformed,
       "total length below the header"},
      {[](Bytes& f) { f[24] ^= 1; }, DropReason::kBadChecksum, "checksum"},
      {[](Bytes& f) { f[22] ^= 1; }, DropReason::kBadChecksum, "TTL without checksum"},
      {[](Bytes& f) { f[16] = 0, f[17] = 39, reseal_ipv4(f); }, DropReason::kMalformed,
       "no room for a TCP header"},
      {[](Bytes& f) { f[46] = 0x40; }, DropReason::kMalformed, "TCP header of 16 bytes"},
      {[](Bytes& f) { f[46] = 0xF0, f[16] = 0, f[17] = 79, reseal_ipv4(f); },
       DropReason::kMalformed, "TCP header one word beyond the datagram"},
      {[](Bytes& f) { f.resize(33); }, DropReason::kMalformed, "one byte short of an IPv4 header"},
      {[](Bytes& f) { f.resize(10); }, DropReason::kMalformed, "shorter than Ethernet"},
      {[](Bytes& f) { f.clear(); }, DropReason::kMalformed, "empty"},
  };
  for (const auto& row : rows) {
    Bytes frame = bytes_of({.payload_bytes = 60});
    row.spoil(frame);
    const Parsed p = parse_bytes(pool.get(), frame);
    EXPECT_EQ(p.reason, row.reason) << row.why;
  }
}

TEST(Parse, LengthsAtTheEdgeAreAccepted) {
  TestPool pool;
  Bytes exact = bytes_of({.payload_bytes = 60});
  EXPECT_EQ(parse_bytes(pool.get(), exact).reason, std::nullopt) << "total length == frame";
  exact.push_back(0);
  EXPECT_EQ(parse_bytes(pool.get(), exact).reason, std::nullopt) << "a trailer is not a fault";
  Bytes widest = bytes_of({.payload_bytes = 60});
  widest[46] = 0xF0;  // 60 bytes of TCP header, the last 40 of them options
  widest[16] = 0, widest[17] = 80;
  reseal_ipv4(widest);
  const Parsed p = parse_bytes(pool.get(), widest);
  ASSERT_EQ(p.reason, std::nullopt) << "data offset to the very end";
  EXPECT_EQ(p.meta.payload_bytes, 0);
}

// However a frame is cut and whatever it claims, the parser never reads beyond the buffer and
// always returns a result.
TEST(Parse, TruncationAndRandomDamageAreSafe) {
  TestPool pool;
  const Bytes whole =
      bytes_of({.payload_bytes = 60, .ip_options = Bytes(8, 1), .tcp_options = Bytes(12, 1)});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(parse_bytes(pool.get(), cut).reason, DropReason::kMalformed) << length;
  }
  RandomStream random(1, 0, RandomPurpose::kTest);
  std::uint64_t accepted = 0;
  std::array<std::uint64_t, kDropReasons> refused{};
  for (int i = 0; i < 50'000; ++i) {
    Bytes frame = whole;
    for (std::uint32_t n = random.next_u32() % 4; n > 0; --n)
      frame[12 + random.next_u32() % 50] = static_cast<std::uint8_t>(random.next_u32());
    if (i % 2 == 0) reseal_ipv4(frame);
    frame.resize(random.next_u32() % 3 == 0 ? random.next_u32() % frame.size() : frame.size());
    const Parsed p = parse_bytes(pool.get(), frame);
    if (!p.reason) {
      ++accepted;
      ASSERT_LE(p.meta.tcp_offset + p.meta.payload_bytes, frame.size());
    } else {
      ++refused[static_cast<std::size_t>(*p.reason)];
    }
  }
  EXPECT_GT(accepted, 1'000U);
  for (const auto r : {DropReason::kNotIpv4, DropReason::kMalformed, DropReason::kBadChecksum})
    EXPECT_GT(refused[static_cast<std::size_t>(r)], 500U);
}

TEST(Parse, StaleMetaDataOfAnEarlierUseIsOverwritten) {
  TestPool pool;
  Packet* packet = make_packet(pool.get(), {.protocol = 1});
  PacketMeta& m = meta(*packet);
  m.tcp_offset = 34;
  m.payload_bytes = 1000;
  m.tcp_flags = kTcpSyn;
  m.flow = {1, 2, 3, 4};
  ASSERT_EQ(parse(*packet).kind, FrameKind::kIpv4);
  EXPECT_EQ(m.tcp_offset, 0);
  EXPECT_EQ(m.payload_bytes, 0);
  EXPECT_EQ(m.tcp_flags, 0);
  EXPECT_EQ(m.flow,
            (FlowKey{FrameSpec{}.flow.source_address, FrameSpec{}.flow.destination_address, 0, 0}));
  release(packet);
}

TEST(Parse, SourceAddressIsReadWithoutParsing) {
  TestPool pool;
  const auto source_of = [&](const Bytes& frame) {
    Packet* packet = packet_of(pool.get(), frame);
    const auto source = source_address_of(*packet);
    release(packet);
    return source;
  };
  Bytes frame = bytes_of({});
  EXPECT_EQ(source_of(frame), FrameSpec{}.flow.source_address);
  Bytes arp = frame;
  arp[13] = 0x06;
  EXPECT_EQ(source_of(arp), std::nullopt);
  frame.resize(33);
  EXPECT_EQ(source_of(frame), std::nullopt);
}

}  // namespace
}  // namespace outrider::parse_test
