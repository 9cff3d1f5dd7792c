#include "trafficgen/frames/frame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/core/random.h"
#include "common/net/burst_option.h"
#include "switch/forwarding/header_rewrite.h"
#include "switch/forwarding/parse.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider::frame_test {
using namespace tg;
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr FlowKey kFlow{0x0A000101, 0x0A000301, 40'000, 5000};

// Checksum over pseudo header and TCP, payload taken as zeros, by other code
// than the one that wrote it.
bool tcp_checksum_valid(const Bytes& frame) {
  const std::size_t tcp_bytes = (std::size_t{frame[16]} << 8 | frame[17]) - 20;
  Bytes summed(frame.begin() + 26, frame.begin() + 34);  // addresses
  for (const std::size_t word : {std::size_t{6}, tcp_bytes}) {
    summed.push_back(static_cast<std::uint8_t>(word >> 8));
    summed.push_back(static_cast<std::uint8_t>(word));
  }
  const std::size_t present = std::min(tcp_bytes, frame.size() - 34);
  summed.insert(summed.end(), frame.begin() + 34,
                frame.begin() + 34 + static_cast<std::ptrdiff_t>(present));
  return internet_checksum(summed) == 0;
}

TcpSegment random_segment(RandomStream& random) {
  TcpSegment s;
  s.sequence = random.next_u32();
  s.acknowledgment = random.next_u32();
  s.flags = static_cast<std::uint8_t>(random.next_u32() & 0xDF);
  s.window = static_cast<std::uint16_t>(random.next_u32());
  s.payload_bytes =
      static_cast<std::uint16_t>(random.next_u32() % 4 == 0 ? 0 : random.next_u32() % 1400);
  if (random.next_u32() % 4 == 0) s.mss = static_cast<std::uint16_t>(1 + random.next_u32() % 9000);
  s.has_identity = random.next_u32() % 2 == 0;
  if (s.has_identity)
    s.identity = {.job = static_cast<std::uint16_t>(random.next_u32()),
                  .worker = static_cast<std::uint16_t>(random.next_u32() & 0x7FFF),
                  .iteration = random.next_u32()};
  s.sack_blocks = static_cast<std::uint8_t>(s.mss != 0 ? 0 : random.next_u32() % 3);
  for (std::size_t i = 0; i < s.sack_blocks; ++i)
    s.sack[i] = {random.next_u32(), random.next_u32()};
  return s;
}

TEST(Frame, RoundTripWithIndependentChecksums) {
  std::uint64_t with_options = 0, short_frames = 0;
  for (const bool full : {false, true}) {
    TestPool pool(4, full ? 2048 : kHeaderRoomBytes);  // few: every buffer is used again and again
    RandomStream random(1, full, RandomPurpose::kTest);
    for (int i = 0; i < 20'000; ++i) {
      const FlowKey flow{random.next_u32(), random.next_u32(),
                         static_cast<std::uint16_t>(random.next_u32()),
                         static_cast<std::uint16_t>(random.next_u32())};
      const auto tos = static_cast<std::uint8_t>(random.next_u32());
      const TcpSegment s = random_segment(random);
      Packet* packet = rte_pktmbuf_alloc(&pool.get());
      write_frame(*packet, flow, tos, s, full);
      const auto view = buffer(*packet);
      const Bytes bytes(view.begin(), view.end());
      const std::uint32_t ip_bytes = bytes[16] * 256U + bytes[17];
      ASSERT_EQ(meta(*packet).frame_bytes, std::max(60U, 14 + ip_bytes));
      ASSERT_EQ(meta(*packet).payload_bytes, s.payload_bytes);
      if (full) {
        ASSERT_EQ(bytes.size(), meta(*packet).frame_bytes) << "a NIC sends the buffer";
        // Stale bytes of an earlier, longer header must not become payload.
        const std::size_t payload_at = 34 + (bytes[46] >> 4) * 4U;
        ASSERT_TRUE(std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(payload_at),
                                bytes.end(), [](auto b) { return b == 0; }))
            << "frame " << i;
      } else {
        ASSERT_LE(bytes.size(), kHeaderRoomBytes);
      }
      ASSERT_EQ(internet_checksum(std::span(bytes).subspan(14, 20)), 0) << "IPv4";
      ASSERT_TRUE(tcp_checksum_valid(bytes)) << "frame " << i;
      ASSERT_EQ(bytes[22], 64) << "TTL";

      ASSERT_EQ(knows_segment(*packet), !full);
      ReceivedFrame read;
      ASSERT_FALSE(read_frame(*packet, read)) << "frame " << i;
      ASSERT_TRUE(bytes_agree(*packet, read)) << "frame " << i;
      EXPECT_EQ(read.flow, flow);
      EXPECT_EQ(read.tos, tos);
      EXPECT_EQ(read.segment.sequence, s.sequence);
      EXPECT_EQ(read.segment.acknowledgment, s.acknowledgment);
      EXPECT_EQ(read.segment.flags, s.flags);
      EXPECT_EQ(read.segment.window, s.window);
      EXPECT_EQ(read.segment.payload_bytes, s.payload_bytes);
      EXPECT_EQ(read.segment.ecn, ecn_of(tos));
      EXPECT_EQ(read.segment.mss, s.mss);
      EXPECT_EQ(read.segment.sack_blocks, s.sack_blocks);
      ASSERT_EQ(read.segment.has_identity, s.has_identity);
      EXPECT_EQ(read.segment.identity, s.identity);
      with_options += s.has_identity;
      short_frames += meta(*packet).frame_bytes == 60;
      release(packet);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(with_options, 1'000U);
  EXPECT_GT(short_frames, 100U);
}

// Goal: metadata of a packet with known headers are those that parse() reads, and a receiver sees
// what switches change. Method: both readings after each of the changes.
TEST(Frame, KnownHeadersAgreeWithTheBytes) {
  TestPool pool(4, kHeaderRoomBytes);
  RandomStream random(2, 0, RandomPurpose::kTest);
  for (int i = 0; i < 5'000; ++i) {
    const FlowKey flow{random.next_u32(), random.next_u32(),
                       static_cast<std::uint16_t>(random.next_u32()),
                       static_cast<std::uint16_t>(random.next_u32())};
    const TcpSegment s = random_segment(random);
    Packet* packet = rte_pktmbuf_alloc(&pool.get());
    ASSERT_FALSE(knows_segment(*packet)) << "a buffer that was used before";
    write_frame(*packet, flow, static_cast<std::uint8_t>(Ecn::kEct0), s, false);
    const PacketMeta noted = meta(*packet);
    meta(*packet) = {.frame_bytes = noted.frame_bytes};
    ASSERT_EQ(sw::parse(*packet).kind, FrameKind::kIpv4);
    const PacketMeta parsed = meta(*packet);
    ASSERT_EQ(noted.flow, parsed.flow);
    ASSERT_EQ(noted.sequence, parsed.sequence);
    ASSERT_EQ(noted.payload_bytes, parsed.payload_bytes);
    ASSERT_EQ(noted.tcp_flags, parsed.tcp_flags);
    ASSERT_EQ(noted.tos, parsed.tos);
    ASSERT_EQ(noted.ip_offset, parsed.ip_offset);
    ASSERT_EQ(noted.tcp_offset, parsed.tcp_offset);

    auto& ip = header_at<Ipv4Header>(*packet, kKnownIpOffset);
    ASSERT_TRUE(sw::decrement_ttl(ip));
    sw::set_ce(ip);
    sw::set_window(header_at<TcpHeader>(*packet, kKnownTransportOffset), 17);
    ReceivedFrame read;
    ASSERT_FALSE(read_frame(*packet, read));
    EXPECT_TRUE(bytes_agree(*packet, read)) << "frame " << i;
    EXPECT_EQ(read.segment.ecn, Ecn::kCe);
    EXPECT_EQ(read.segment.window, 17);
    release(packet);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Frame, MatchesAFrameWrittenByHand) {
  TestPool pool;
  const BurstIdentity identity{.job = 3, .worker = 7, .iteration = 11};
  Packet* packet = rte_pktmbuf_alloc(&pool.get());
  TcpSegment s;
  s.sequence = 0x01020304;
  s.flags = kTcpAck;
  s.window = 0xFFFF;
  s.has_identity = true;
  s.identity = identity;
  write_frame(*packet, kFlow, 0x8A, s, false);
  const Bytes expected =
      bytes_of({.flow = kFlow, .tos = 0x8A, .sequence = 0x01020304, .identity = identity});
  const auto view = buffer(*packet);
  EXPECT_EQ(Bytes(view.begin(), view.end()), expected);
  release(packet);
}

TEST(Frame, ReadsWhatAnotherStackWrites) {
  TestPool pool(16, 2048);
  FrameSpec spec{.flow = kFlow,
                 .tos = 0x03,
                 .sequence = 77,
                 .tcp_flags = kTcpAck | kTcpPsh,
                 .payload_bytes = 700};
  spec.tcp_options = {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2};  // timestamps
  Packet* packet = make_packet(pool.get(), spec);
  ReceivedFrame read;
  ASSERT_FALSE(read_frame(*packet, read));
  EXPECT_EQ(read.flow, kFlow);
  EXPECT_EQ(read.segment.payload_bytes, 700);
  EXPECT_EQ(read.segment.ecn, Ecn::kCe);
  release(packet);
}

TEST(Frame, DamagedFramesAreRefusedByName) {
  TestPool pool(64, 2048);
  struct Row {
    std::size_t at;
    std::uint8_t flip;
    bool reseal;
    DropReason reason;
    const char* why;
  };
  const Row rows[] = {
      {12, 0x08, false, DropReason::kNotIpv4, "EtherType"},
      {14, 0x01, true, DropReason::kNotIpv4, "no emulated host sends IPv4 options"},
      {24, 0x01, false, DropReason::kBadChecksum, "IPv4 checksum"},
      {15, 0x03, false, DropReason::kBadChecksum, "CE set without the checksum"},
      {50, 0x01, false, DropReason::kBadChecksum, "TCP checksum"},
      {40, 0x80, false, DropReason::kBadChecksum, "a bit of the sequence number"},
      {100, 0x01, false, DropReason::kBadChecksum, "a bit of the payload"},
      {33, 0x01, true, DropReason::kBadChecksum, "destination: the pseudo header covers it"},
      {16, 0x80, true, DropReason::kMalformed, "total length beyond the frame"},
      {23, 0x17, true, DropReason::kNoConnection, "UDP"},
  };
  for (const auto& row : rows) {
    Bytes frame = bytes_of({.flow = kFlow, .payload_bytes = 200});
    frame[row.at] ^= row.flip;
    if (row.reseal) reseal_ipv4(frame);
    Packet* packet = packet_of(pool.get(), frame);
    ReceivedFrame read;
    EXPECT_EQ(read_frame(*packet, read), row.reason) << row.why;
    release(packet);
  }
  const Bytes whole = bytes_of({.flow = kFlow, .payload_bytes = 200});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Packet* packet = packet_of(pool.get(), std::span(whole).first(length));
    ReceivedFrame read;
    EXPECT_EQ(read_frame(*packet, read), DropReason::kMalformed) << length;
    release(packet);
  }
}

// A device that has checked the sum is believed, and so is the sender of a frame that
// stayed in memory; without either the sum decides.
TEST(Frame, TheDevicesWordOnTheChecksumCounts) {
  TestPool pool(16, 2048);
  Bytes damaged = bytes_of({.flow = kFlow, .payload_bytes = 200});
  damaged[100] ^= 1;
  const Bytes whole = bytes_of({.flow = kFlow, .payload_bytes = 200});
  const auto read = [&](const Bytes& bytes, std::uint64_t flags) {
    Packet* packet = packet_of(pool.get(), bytes);
    packet->ol_flags |= flags;
    ReceivedFrame frame;
    const auto dropped = read_frame(*packet, frame);
    release(packet);
    return dropped;
  };
  EXPECT_EQ(read(damaged, 0), DropReason::kBadChecksum);
  EXPECT_EQ(read(damaged, RTE_MBUF_F_RX_L4_CKSUM_NONE), DropReason::kBadChecksum);
  EXPECT_EQ(read(damaged, RTE_MBUF_F_RX_L4_CKSUM_GOOD), std::nullopt);
  EXPECT_EQ(read(whole, 0), std::nullopt);
  EXPECT_EQ(read(whole, RTE_MBUF_F_RX_L4_CKSUM_BAD), DropReason::kBadChecksum);

  Packet* sent = rte_pktmbuf_alloc(&pool.get());
  write_frame(*sent, kFlow, 0, {}, true);
  EXPECT_EQ(sent->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
  release(sent);
}

TEST(Frame, MacFollowsFromTheAddressAndIsLocallyAdministered) {
  EXPECT_EQ(mac_of(0x0A0001FE), (MacAddress{0x02, 0x00, 0x0A, 0x00, 0x01, 0xFE}));
}

}  // namespace
}  // namespace outrider::frame_test
