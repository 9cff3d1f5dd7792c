// Goal: a message of the bounded-loss transport is what the layout in its header says, and
// nothing else is one.
// Method: messages written by hand, round trips of random fields, every truncation, every
// bit flipped, and a hundred thousand blocks of random bytes behind a sound head.
#include "common/net/mlt_message.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/core/random.h"

namespace outrider::mlt {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes encoded(const Message& m) {
  std::array<std::uint8_t, kMaxMessageBytes> bytes;
  bytes.fill(0xEE);
  const std::uint32_t written = encode(m, bytes);
  return {bytes.begin(), bytes.begin() + written};
}

/// On the wire, DATA's values included.
std::uint32_t wire_bytes(const Message& m, const Bytes& bytes) {
  return static_cast<std::uint32_t>(bytes.size()) + m.length_bytes;
}

constexpr BurstIdentity kPull{0x0102, 0x0304, 0x05060708, BurstDirection::kPull};

TEST(MltMessage, DataIsLaidOutAsItsHeaderSays) {
  const Message data{.kind = Kind::kData,
                     .asks = true,
                     .identity = kPull,
                     .tensor = 0x090A0B0C,
                     .offset_values = 0x11121314,
                     .length_bytes = 1432,
                     .transmitted_bytes = 0x21222324,
                     .sequence = 0x31323334,
                     .sent_at_ns = 0x41424344};
  const Bytes by_hand{'O',  'R',  'M',  'L',  1,    1,    1,    0,     // head
                      0x01, 0x02, 0x83, 0x04, 0x05, 0x06, 0x07, 0x08,  // job, worker of a pull
                      0x09, 0x0A, 0x0B, 0x0C, 0x11, 0x12, 0x13, 0x14,  // tensor, place
                      0x05, 0x98, 0,    0,    0x21, 0x22, 0x23, 0x24,  // length, transmitted
                      0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44};
  EXPECT_EQ(encoded(data), by_hand);
  Message read;
  ASSERT_EQ(decode(by_hand, kDataHeaderBytes + 1432, read), std::nullopt);
  EXPECT_EQ(read, data);
}

TEST(MltMessage, AnswersAreLaidOutAsItsHeaderSays) {
  const Message feedback{.kind = Kind::kFeedback,
                         .stopped = true,
                         .identity = {1, 2, 3, BurstDirection::kPush},
                         .tensor = 4,
                         .sent_at_ns = 8,
                         .seen_bytes = 5,
                         .received_bytes = 6,
                         .marked_bytes = 7};
  EXPECT_EQ(encoded(feedback),
            (Bytes{'O', 'R', 'M', 'L', 1, 3, 2, 0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0,
                   0,   4,   0,   0,   0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8}));
  Message bitmap{.kind = Kind::kBitmap, .tensor = 1, .probe = 9, .first_packet = 192};
  bitmap.bits[0] = 0x81;
  bitmap.bits[23] = 0xFE;
  const Bytes bytes = encoded(bitmap);
  ASSERT_EQ(bytes.size(), kMaxMessageBytes);
  EXPECT_EQ(Bytes(bytes.begin() + 20, bytes.begin() + 30),
            (Bytes{0, 0, 0, 9, 0, 0, 0, 192, 0x81, 0}));
  EXPECT_EQ(bytes.back(), 0xFE);
}

Message random_message(RandomStream& random) {
  const auto u32 = [&] { return random.next_u32(); };
  Message m;
  m.kind = static_cast<Kind>(1 + u32() % 5);
  m.identity = {static_cast<std::uint16_t>(u32()), static_cast<std::uint16_t>(u32() % 32768), u32(),
                u32() % 2 == 0 ? BurstDirection::kPush : BurstDirection::kPull};
  m.tensor = u32();
  const bool sent = m.kind == Kind::kData || m.kind == Kind::kProbe;
  if (sent) m.asks = u32() % 2 == 0;
  if (sent) m.transmitted_bytes = u32();
  if (sent || m.kind == Kind::kFeedback) m.sent_at_ns = u32();
  if (m.kind == Kind::kData) {
    m.offset_values = u32();
    m.length_bytes = static_cast<std::uint16_t>(4 + u32() % 16383 * 4);
    m.sequence = u32();
  }
  if (m.kind == Kind::kFeedback) {
    m.stopped = u32() % 2 == 0;
    m.seen_bytes = u32();
    m.received_bytes = u32();
    m.marked_bytes = u32();
  }
  if (m.kind == Kind::kProbe || m.kind == Kind::kBitmap) m.probe = u32() | 1;
  if (m.kind == Kind::kStop) m.probe = u32();
  if (m.kind == Kind::kBitmap) {
    m.first_packet = u32();
    for (auto& b : m.bits) b = static_cast<std::uint8_t>(u32());
  }
  return m;
}

TEST(MltMessage, RoundTripsAnyFields) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int i = 0; i < 20'000; ++i) {
    const Message m = random_message(random);
    const Bytes bytes = encoded(m);
    Message read;
    ASSERT_EQ(decode(bytes, wire_bytes(m, bytes), read), std::nullopt) << i;
    ASSERT_EQ(read, m) << i;
  }
}

TEST(MltMessage, EveryTruncationIsRefused) {
  RandomStream random(2, 0, RandomPurpose::kTest);
  for (int i = 0; i < 500; ++i) {
    const Message m = random_message(random);
    const Bytes bytes = encoded(m);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      Message read{.tensor = 77};
      // Copied, so that a sanitizer sees a read behind the end.
      const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      ASSERT_EQ(decode(part, static_cast<std::uint32_t>(n), read), Fault::kBadLength) << n;
      ASSERT_EQ(read.tensor, 77U) << "touched";
    }
  }
}

/// A bit flipped gives another message or a fault, never the same message.
TEST(MltMessage, EveryBitCounts) {
  RandomStream random(3, 0, RandomPurpose::kTest);
  for (int i = 0; i < 100; ++i) {
    const Message m = random_message(random);
    const Bytes bytes = encoded(m);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      Bytes flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
      Message read;
      if (decode(flipped, wire_bytes(m, bytes), read)) continue;
      ASSERT_NE(read, m) << bit;
    }
  }
}

TEST(MltMessage, NamesTheFault) {
  const Message data{.length_bytes = 8};
  const Bytes good = encoded(data);
  const auto fault = [&](std::size_t at, std::uint8_t value, std::uint32_t wire) {
    Bytes bytes = good;
    bytes[at] = value;
    Message read;
    return decode(bytes, wire, read);
  };
  EXPECT_EQ(fault(0, 'O', 48), std::nullopt);
  EXPECT_EQ(fault(0, 'X', 48), Fault::kBadMagic);
  EXPECT_EQ(fault(4, 2, 48), Fault::kBadVersion);
  EXPECT_EQ(fault(5, 0, 48), Fault::kBadKind);
  EXPECT_EQ(fault(5, 6, 48), Fault::kBadKind);
  EXPECT_EQ(fault(5, 4, 48), Fault::kBadLength) << "a STOP of 48 bytes";
  EXPECT_EQ(fault(6, 2, 48), Fault::kReserved) << "a flag of FEEDBACK";
  EXPECT_EQ(fault(7, 1, 48), Fault::kReserved);
  EXPECT_EQ(fault(27, 1, 48), Fault::kReserved);
  EXPECT_EQ(fault(25, 6, 46), Fault::kBadValues) << "one value and a half";
  EXPECT_EQ(fault(25, 0, 40), Fault::kBadValues);
  EXPECT_EQ(fault(0, 'O', 47), Fault::kBadValues) << "of 8 bytes 7 are there";
  const Bytes probe = encoded({.kind = Kind::kProbe, .probe = 1});
  Bytes zero = probe;
  zero[23] = 0;
  Message read;
  EXPECT_EQ(decode(zero, 32, read), Fault::kZeroProbe);
}

/// What is understood survives being written again.
TEST(MltMessage, RandomBytesBehindASoundHead) {
  RandomStream random(4, 0, RandomPurpose::kTest);
  int understood = 0;
  for (int i = 0; i < 100'000; ++i) {
    Bytes bytes = encoded({.kind = static_cast<Kind>(1 + i % 5), .length_bytes = 4, .probe = 1});
    for (std::size_t n = 8; n < bytes.size(); ++n)
      bytes[n] = static_cast<std::uint8_t>(random.next_u32());
    std::uint32_t wire = static_cast<std::uint32_t>(bytes.size());
    if (i % 5 == 0) {
      bytes[26] = bytes[27] = 0;
      wire += static_cast<std::uint32_t>(bytes[24] << 8 | bytes[25]);
    }
    Message read;
    if (decode(bytes, wire, read)) continue;
    ++understood;
    ASSERT_EQ(encoded(read), bytes) << i;
  }
  EXPECT_GT(understood, 80'000);
}

}  // namespace
}  // namespace outrider::mlt
