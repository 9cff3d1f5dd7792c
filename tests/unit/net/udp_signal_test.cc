// Goal: the UDP signal is what the layout in its header says, and nothing else is one.
// Method: a message written by hand, round trips of random fields, every truncation, and
// every bit flipped.
#include "common/net/udp_signal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "common/core/random.h"

namespace outrider::udp_signal_test {
namespace {

using namespace std::chrono_literals;
using udp_signal::Fault;
using udp_signal::kBytes;
using udp_signal::Kind;
using udp_signal::Signal;
using Bytes = std::array<std::uint8_t, kBytes>;

constexpr Duration kLimit = 1h;

Bytes encoded(const Signal& s) {
  Bytes bytes;
  bytes.fill(0xEE);
  udp_signal::encode(s, bytes);
  return bytes;
}

constexpr Signal kSignal{.kind = Kind::kStart,
                         .threshold_packets = 10,
                         .identity = {0x0102, 0x0304, 0x05060708, BurstDirection::kPull},
                         .burst_bytes = 0x1112131415161718,
                         .due_in = 3'500'000ns,
                         .source_port = 0x8001,
                         .destination_port = 5000,
                         .sequence = 0x21222324,
                         .counter = 0x3132333435363738};

TEST(UdpSignal, IsLaidOutAsItsHeaderSays) {
  constexpr Bytes kByHand{'O',  'R',  'S',  'G',  1,    1,    0,    10,    // head, h
                          0x01, 0x02, 0x83, 0x04, 0x05, 0x06, 0x07, 0x08,  // job, pull worker
                          0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,  // bytes
                          0,    0,    0,    0,    0x00, 0x35, 0x67, 0xE0,  // 3,500,000 ns
                          0x80, 0x01, 0x13, 0x88, 0x21, 0x22, 0x23, 0x24,  // ports, sequence
                          0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38};
  EXPECT_EQ(encoded(kSignal), kByHand);
  Signal read;
  ASSERT_EQ(udp_signal::decode(kByHand, kLimit, read), std::nullopt);
  EXPECT_EQ(read, kSignal);
}

Signal random_signal(RandomStream& random) {
  const auto u16 = [&] { return static_cast<std::uint16_t>(random.next_u32()); };
  const auto port = [&] { return static_cast<std::uint16_t>(1 + random.next_u32() % 65535); };
  const auto u64 = [&] { return std::uint64_t{random.next_u32()} << 32 | random.next_u32(); };
  Signal s;
  s.kind = random.next_u32() % 2 == 0 ? Kind::kStart : Kind::kAck;
  s.threshold_packets = port();
  s.identity = {u16(), static_cast<std::uint16_t>(u16() % 32768), random.next_u32(),
                random.next_u32() % 2 == 0 ? BurstDirection::kPush : BurstDirection::kPull};
  s.burst_bytes = u64();
  s.due_in = Duration{static_cast<std::int64_t>(u64() % std::uint64_t{kLimit.count() + 1})};
  s.source_port = port();
  s.destination_port = port();
  s.sequence = random.next_u32();
  s.counter = u64();
  if (random.next_u32() % 2 == 0) {
    if (s.kind == Kind::kStart) return s;
    const auto lower_bits = s.counter >> 1;
    s.counter = 0;
    if (random.next_u32() % 2 == 0) s.counter = lower_bits;
    else s.told_lead = Duration{static_cast<std::int64_t>(lower_bits)};
    return s;
  }
  s.proof.emplace();
  s.proof->key_id = static_cast<std::uint8_t>(u16());
  for (auto& byte : s.proof->tag) byte = static_cast<std::uint8_t>(u16());
  return s;
}

TEST(UdpSignal, ASignedOneHasItsKeysIdAndTagInTheirPlaces) {
  Signal s = kSignal;
  s.proof = udp_signal::Proof{.key_id = 0xAB, .tag = {}};
  s.proof->tag.fill(0xCD);
  const Bytes bytes = encoded(s);
  EXPECT_EQ(bytes[4], 2) << "version";
  EXPECT_EQ(bytes[24], 0xAB);
  EXPECT_EQ(bytes[31], 0xE0) << "3,500,000 ns";
  EXPECT_TRUE(std::ranges::all_of(std::span(bytes).subspan(48), [](auto b) { return b == 0xCD; }));
  Signal read;
  ASSERT_EQ(udp_signal::decode(bytes, kLimit, read), std::nullopt);
  EXPECT_EQ(read, s);
}

TEST(UdpSignal, ASignedOneMayBeDueIn834Days) {
  Signal s = kSignal;
  s.proof = udp_signal::Proof{.key_id = 255, .tag = {}};
  s.due_in = udp_signal::kSignedDueLimit;
  Signal read;
  ASSERT_EQ(udp_signal::decode(encoded(s), Duration::max(), read), std::nullopt);
  EXPECT_EQ(read, s);
}

// A reader that knows of no lead takes any counter, and refuses a tag in an unsigned message.
TEST(UdpSignal, ALeadStandsInThePlaceOfAnUnsignedAcksCounter) {
  Signal ack = kSignal;
  ack.kind = Kind::kAck;
  const Bytes before = encoded(ack);
  ack.counter = 0;
  ack.told_lead = 3'500'000ns;
  const Bytes bytes = encoded(ack);
  constexpr Bytes kLead{0x80, 0, 0, 0, 0, 0x35, 0x67, 0xE0};
  EXPECT_TRUE(std::ranges::equal(std::span(bytes).subspan(40, 8), std::span(kLead).first(8)));
  EXPECT_TRUE(std::ranges::equal(std::span(bytes).first(40), std::span(before).first(40)));
  EXPECT_TRUE(std::ranges::equal(std::span(bytes).subspan(48), std::span(before).subspan(48)));
  Signal read;
  ASSERT_EQ(udp_signal::decode(bytes, kLimit, read), std::nullopt);
  EXPECT_EQ(read, ack);
}

TEST(UdpSignal, ACounterIsNoLead) {
  Signal s = kSignal;
  s.counter = ~std::uint64_t{0};
  Signal read;
  ASSERT_EQ(udp_signal::decode(encoded(s), kLimit, read), std::nullopt);
  EXPECT_EQ(read, s) << "a START has all bits of its counter";
  s.kind = Kind::kAck;
  ASSERT_EQ(udp_signal::decode(encoded(s), kLimit, read), std::nullopt);
  EXPECT_EQ(read.told_lead, std::nullopt);
  EXPECT_EQ(read.counter, s.counter >> 1) << "an unsigned answer repeats 63 bits of it";
  s.proof.emplace();
  ASSERT_EQ(udp_signal::decode(encoded(s), kLimit, read), std::nullopt);
  EXPECT_EQ(read, s) << "a signed one all";
}

TEST(UdpSignal, RoundTripsAnyFields) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int i = 0; i < 20'000; ++i) {
    const Signal s = random_signal(random);
    Signal read;
    ASSERT_EQ(udp_signal::decode(encoded(s), kLimit, read), std::nullopt) << i;
    ASSERT_EQ(read, s) << i;
  }
}

TEST(UdpSignal, AnyOtherLengthIsRefused) {
  const Bytes bytes = encoded(kSignal);
  std::vector<std::uint8_t> longer(bytes.begin(), bytes.end());
  longer.resize(2 * kBytes);
  for (std::size_t length = 0; length <= longer.size(); ++length) {
    Signal read;
    const auto fault = udp_signal::decode({longer.data(), length}, kLimit, read);
    if (length == kBytes) EXPECT_EQ(fault, std::nullopt);
    else EXPECT_EQ(fault, Fault::kBadLength) << length;
  }
}

// Every single bit: refused by the name of its field, or read as just that bit flipped.
TEST(UdpSignal, EveryFlippedBitIsRefusedOrRead) {
  RandomStream random(2, 0, RandomPurpose::kTest);
  std::array<int, udp_signal::kFaults> faults{};
  for (int i = 0; i < 50; ++i) {
    const Bytes bytes = encoded(random_signal(random));
    for (std::size_t bit = 0; bit < 8 * kBytes; ++bit) {
      Bytes flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
      Signal read = kSignal;
      const auto fault = udp_signal::decode(flipped, kLimit, read);
      if (!fault) {
        ASSERT_EQ(encoded(read), flipped) << bit;
        continue;
      }
      ASSERT_EQ(read, kSignal) << "untouched if refused";
      ++faults[static_cast<std::size_t>(*fault)];
      const std::size_t byte = bit / 8;
      const Fault expected = byte < 4                  ? Fault::kBadMagic
                             : byte == 4               ? Fault::kBadVersion
                             : byte == 5               ? Fault::kBadKind
                             : byte < 8                ? Fault::kZeroTarget
                             : byte >= 24 && byte < 32 ? Fault::kDueTooFar
                             : byte >= 32 && byte < 36 ? Fault::kZeroPort
                                                       : Fault::kReserved;
      ASSERT_EQ(*fault, expected) << bit;
    }
  }
  for (const Fault f :
       {Fault::kBadMagic, Fault::kBadVersion, Fault::kBadKind, Fault::kDueTooFar, Fault::kReserved})
    EXPECT_GT(faults[static_cast<std::size_t>(f)], 0)
        << udp_signal::kFaultNames[static_cast<std::size_t>(f)];
}

TEST(UdpSignal, NamesWhatIsOutOfRange) {
  const auto fault = [](auto&& change) {
    Bytes bytes = encoded(kSignal);
    change(bytes);
    Signal read;
    return udp_signal::decode(bytes, 10ms, read);
  };
  EXPECT_EQ(fault([](Bytes& b) { b[7] = 0; }), Fault::kZeroTarget);
  EXPECT_EQ(fault([](Bytes& b) { b[32] = b[33] = 0; }), Fault::kZeroPort);
  EXPECT_EQ(fault([](Bytes& b) { b[34] = b[35] = 0; }), Fault::kZeroPort);
  EXPECT_EQ(fault([](Bytes& b) { b[5] = 0; }), Fault::kBadKind);
  EXPECT_EQ(fault([](Bytes& b) { b[5] = 3; }), Fault::kBadKind);
  EXPECT_EQ(fault([](Bytes& b) { b[63] = 1; }), Fault::kReserved);
  EXPECT_EQ(fault([](Bytes& b) { b[24] = 0x80; }), Fault::kDueTooFar) << "no negative time";
  EXPECT_EQ(fault([](Bytes& b) { b[28] = 0, b[29] = 0x98, b[30] = 0x96, b[31] = 0x80; }),
            std::nullopt)
      << "10,000,000 ns is the limit itself";
  EXPECT_EQ(fault([](Bytes& b) { b[28] = 0, b[29] = 0x98, b[30] = 0x96, b[31] = 0x81; }),
            Fault::kDueTooFar);
  EXPECT_EQ(fault([](Bytes& b) { b = {}; }), Fault::kBadMagic);
}

TEST(UdpSignal, SurvivesAnyBytes) {
  RandomStream random(3, 0, RandomPurpose::kTest);
  std::vector<std::uint8_t> bytes(kBytes);
  for (int i = 0; i < 20'000; ++i) {
    bytes.resize(random.next_u32() % 4 == 0 ? random.next_u32() % 200 : kBytes);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random.next_u32());
    Signal read;
    ASSERT_NE(udp_signal::decode(bytes, kLimit, read), std::nullopt);
  }
}

}  // namespace
}  // namespace outrider::udp_signal_test
