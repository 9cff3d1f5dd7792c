// Goal: the pattern is what its definition says wherever a segment begins and
// ends, and no wrong byte is missed. Method: the definition written once more, a
// byte at a time; frames checked by other code than the one that wrote them.
#include "trafficgen/frames/payload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/core/random.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/frames/frame.h"

namespace outrider::payload_test {
using namespace tg;
namespace {

std::uint8_t expected_byte(std::uint32_t offset) {
  const std::uint64_t word = (std::uint64_t{offset / 4} + 1) * 0x9E3779B1ULL;
  return static_cast<std::uint8_t>(word >> (8 * (offset % 4)));
}

TEST(Pattern, BeginsAsDocumented) {
  std::vector<std::uint8_t> bytes(12);
  fill_pattern(bytes, 0);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0xB1, 0x79, 0x37, 0x9E, 0x62, 0xF3, 0x6E, 0x3C, 0x13,
                                              0x6D, 0xA6, 0xDA}));
}

TEST(Pattern, IsAFunctionOfTheOffsetAlone) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t offset =
        i % 3 == 0 ? UINT32_MAX - random.next_u32() % 3000 : random.next_u32();
    std::vector<std::uint8_t> bytes(random.next_u32() % 3000);
    fill_pattern(bytes, offset);
    for (std::uint32_t b = 0; b < bytes.size(); ++b)
      ASSERT_EQ(bytes[b], expected_byte(offset + b)) << offset << " + " << b;
    ASSERT_EQ(pattern_mismatches(bytes, offset), 0U);
  }
}

TEST(Pattern, EveryWrongByteCounts) {
  RandomStream random(2, 0, RandomPurpose::kTest);
  std::vector<std::uint8_t> bytes(5000);
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t offset = random.next_u32();
    fill_pattern(bytes, offset);
    const std::uint32_t wrong = random.next_u32() % 4;
    for (std::uint32_t w = 0; w < wrong; ++w)
      bytes[w * 1250 + random.next_u32() % 1250] ^=
          static_cast<std::uint8_t>(1 + random.next_u32() % 255);
    ASSERT_EQ(pattern_mismatches(bytes, offset), wrong);
  }
}

TEST(Pattern, ASegmentAtAWrongPlaceDoesNotMatch) {
  std::vector<std::uint8_t> bytes(1448);
  fill_pattern(bytes, 1'000'000);
  for (const std::uint32_t by : {1U, 4U, 1448U, 65536U, 1U << 31})
    EXPECT_GE(pattern_mismatches(bytes, 1'000'000 + by), 1448U / 4)
        << "a byte of each word: " << by;
}

TEST(Pattern, FramesCarryItWithAValidChecksum) {
  TestPool pool(1, 2048);
  RandomStream random(3, 0, RandomPurpose::kTest);
  for (int i = 0; i < 2000; ++i) {
    TcpSegment s;
    s.flags = kTcpAck;
    s.sequence = random.next_u32();
    s.payload_bytes = static_cast<std::uint16_t>(1 + random.next_u32() % 1448);
    s.sack_blocks = static_cast<std::uint8_t>(random.next_u32() % 3);
    const std::uint32_t offset = random.next_u32();
    Packet* packet = rte_pktmbuf_alloc(&pool.get());
    write_frame(*packet, {0x0A000001, 0x0A000002, 1, 2}, 0, s, true);
    write_pattern(*packet, offset);
    ReceivedFrame frame;
    ASSERT_FALSE(read_frame(*packet, frame));
    const auto payload = payload_of(*packet, frame.segment.payload_bytes);
    ASSERT_EQ(payload.size(), s.payload_bytes);
    ASSERT_EQ(pattern_mismatches(payload, offset), 0U);
    const auto bytes = buffer(*packet);
    std::vector<std::uint8_t> summed(bytes.begin() + 26, bytes.begin() + 34);
    const std::size_t tcp_bytes = (std::size_t{bytes[16]} << 8 | bytes[17]) - 20;
    for (const std::size_t word : {std::size_t{6}, tcp_bytes}) {
      summed.push_back(static_cast<std::uint8_t>(word >> 8));
      summed.push_back(static_cast<std::uint8_t>(word));
    }
    summed.insert(summed.end(), bytes.begin() + 34,
                  bytes.begin() + 34 + static_cast<std::ptrdiff_t>(tcp_bytes));
    ASSERT_EQ(internet_checksum(summed), 0);
    release(packet);
  }
}

}  // namespace
}  // namespace outrider::payload_test
