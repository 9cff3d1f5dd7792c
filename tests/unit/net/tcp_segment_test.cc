#include "common/net/tcp_segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/core/random.h"
#include "common/net/burst_option.h"

namespace outrider::tcp_segment_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes encode(const TcpSegment& s) {
  Bytes out(60, 0xEE);
  out.resize(encode_tcp(s, 1000, 2000, out).bytes);
  return out;
}

void expect_same(const TcpSegment& a, const TcpSegment& b) {
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.acknowledgment, b.acknowledgment);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.window, b.window);
  EXPECT_EQ(a.payload_bytes, b.payload_bytes);
  EXPECT_EQ(a.mss, b.mss);
  EXPECT_EQ(a.window_scale, b.window_scale);
  EXPECT_EQ(a.sack_permitted, b.sack_permitted);
  ASSERT_EQ(a.sack_blocks, b.sack_blocks);
  for (std::size_t i = 0; i < a.sack_blocks; ++i) {
    EXPECT_EQ(a.sack[i].begin, b.sack[i].begin);
    EXPECT_EQ(a.sack[i].end, b.sack[i].end);
  }
  ASSERT_EQ(a.has_timestamps, b.has_timestamps);
  EXPECT_EQ(a.ts_value, b.ts_value);
  EXPECT_EQ(a.ts_echo, b.ts_echo);
  ASSERT_EQ(a.has_identity, b.has_identity);
  EXPECT_EQ(a.identity, b.identity);
}

// A header with the given option bytes, padded with end-of-list to a multiple of 4.
Bytes with_options(const Bytes& options) {
  Bytes bytes(20 + (options.size() + 3) / 4 * 4, 0);
  bytes[12] = static_cast<std::uint8_t>(bytes.size() / 4 << 4);
  std::copy(options.begin(), options.end(), bytes.begin() + 20);
  return bytes;
}

std::optional<TcpSegment> decode(std::span<const std::uint8_t> bytes, std::size_t tcp_bytes) {
  TcpSegment s;
  if (!decode_tcp(bytes, static_cast<std::uint32_t>(tcp_bytes), s)) return std::nullopt;
  return s;
}
std::optional<TcpSegment> decode(const Bytes& bytes) { return decode(bytes, bytes.size()); }

TEST(TcpSegment, WritesTheLayoutOfRfc9293) {
  const Bytes expected = {0x03, 0xE8, 0x07, 0xD0,        // ports 1000, 2000
                          0x01, 0x02, 0x03, 0x04,        // sequence
                          0x0A, 0x0B, 0x0C, 0x0D,        // acknowledgment
                          0x80, 0x12, 0xFF, 0xFE,        // 32 bytes, SYN ACK, window
                          0x00, 0x00, 0x00, 0x00,        // checksum left zero, urgent
                          0x02, 0x04, 0x05, 0xB4,        // MSS 1460
                          0x03, 0x03, 0x07, 0x04, 0x02,  // window scale 7, SACK permitted
                          0x01, 0x01, 0x01};             // padding
  const TcpSegment s{.sequence = 0x01020304,
                     .acknowledgment = 0x0A0B0C0D,
                     .flags = kTcpSyn | kTcpAck,
                     .window = 0xFFFE,
                     .mss = 1460,
                     .window_scale = 7,
                     .sack_permitted = true};
  EXPECT_EQ(encode(s), expected);
}

// RFC 7323, appendix A: two NOPs, so that the values are aligned.
TEST(TcpSegment, WritesTimestampsAligned) {
  const TcpSegment s{.has_timestamps = true, .ts_value = 0x01020304, .ts_echo = 0xA0B0C0D0};
  const Bytes bytes = encode(s);
  const Bytes options(bytes.begin() + 20, bytes.end());
  EXPECT_EQ(options, (Bytes{1, 1, 8, 10, 1, 2, 3, 4, 0xA0, 0xB0, 0xC0, 0xD0}));
  EXPECT_FALSE(decode(with_options({8, 9, 1, 2, 3, 4, 5, 6, 7}))->has_timestamps) << "length 9";
}

// Every combination that the transport may ask for fits in 40 bytes and reads back.
TEST(TcpSegment, PacksIdentityTimestampsAndSackIn40Bytes) {
  struct Row {
    bool identity, timestamps;
    std::uint8_t blocks;
    std::size_t bytes;
  };
  constexpr Row kRows[] = {{false, false, 4, 36}, {false, true, 3, 40}, {true, false, 3, 40},
                           {true, true, 1, 36},   {true, true, 0, 24},  {false, true, 0, 12}};
  for (const Row& row : kRows) {
    TcpSegment s{.sack_blocks = row.blocks,
                 .has_timestamps = row.timestamps,
                 .ts_value = row.timestamps ? 7U : 0U,
                 .has_identity = row.identity};
    for (std::uint8_t i = 0; i < row.blocks; ++i) s.sack[i] = {100U * i, 100U * i + 50};
    const Bytes bytes = encode(s);
    EXPECT_EQ(bytes.size(), 20 + row.bytes);
    expect_same(*decode(bytes), s);
  }
}

TEST(TcpSegment, IdentityAloneTakes32Bytes) {
  TcpSegment s{
      .payload_bytes = 1448,
      .has_identity = true,
      .identity = {
          .job = 7, .worker = 32767, .iteration = 0xDEADBEEF, .direction = BurstDirection::kPull}};
  const Bytes bytes = encode(s);
  ASSERT_EQ(bytes.size(), 32U);
  const auto back = decode(bytes, 32 + 1448);
  ASSERT_TRUE(back);
  expect_same(*back, s);
}

TEST(TcpSegment, RoundTripsEveryLegalCombination) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int i = 0; i < 20'000; ++i) {
    TcpSegment s{.sequence = random.next_u32(),
                 .acknowledgment = random.next_u32(),
                 .flags = static_cast<std::uint8_t>(random.next_u32()),
                 .window = static_cast<std::uint16_t>(random.next_u32()),
                 .payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 9000)};
    const std::uint32_t has = random.next_u32();
    if ((has & 1) != 0) s.mss = static_cast<std::uint16_t>(1 + random.next_u32() % 65535);
    if ((has & 2) != 0) s.window_scale = static_cast<std::int8_t>(random.next_u32() % 15);
    if ((has & 4) != 0) s.sack_permitted = true;
    s.has_identity = (has & 8) != 0;
    if (s.has_identity) s.identity = {.job = 3, .worker = 4, .iteration = random.next_u32()};
    const std::uint32_t most = (has & 7) != 0 ? (s.has_identity ? 1 : 3) : (s.has_identity ? 3 : 4);
    s.sack_blocks = static_cast<std::uint8_t>(random.next_u32() % (most + 1));
    for (std::size_t b = 0; b < s.sack_blocks; ++b) {
      s.sack[b] = {random.next_u32(), random.next_u32()};
    }
    const Bytes bytes = encode(s);
    ASSERT_EQ(bytes.size(), tcp_header_bytes(s));
    ASSERT_EQ(bytes.size() % 4, 0U);
    const auto back = decode(bytes, bytes.size() + s.payload_bytes);
    ASSERT_TRUE(back);
    expect_same(*back, s);
  }
}

TEST(TcpSegment, RefusesWhatCannotBe) {
  EXPECT_FALSE(decode(Bytes{})) << "empty";
  EXPECT_FALSE(decode(Bytes(19, 0))) << "shorter than a header";
  Bytes plain = encode({});
  EXPECT_TRUE(decode(plain));
  EXPECT_FALSE(decode(plain, 19)) << "IP length ends inside the header";
  EXPECT_FALSE(decode(plain, 20 + 65536)) << "payload beyond 16 bits";
  plain[12] = 4 << 4;
  EXPECT_FALSE(decode(plain)) << "data offset below 5 words";
  plain[12] = 6 << 4;
  EXPECT_FALSE(decode(plain)) << "options beyond the bytes";
  EXPECT_FALSE(decode(with_options({2, 0, 0, 0}))) << "option length 0";
  EXPECT_FALSE(decode(with_options({2, 1, 0, 0}))) << "option length 1";
  EXPECT_FALSE(decode(with_options({1, 1, 1, 2}))) << "kind without its length";
  EXPECT_FALSE(decode(with_options({1, 1, 2, 4}))) << "length beyond the header";
}

TEST(TcpSegment, SkipsWhatItDoesNotKnow) {
  struct Row {
    Bytes options;
    std::uint16_t mss;
    std::uint8_t blocks;
    const char* why;
  };
  const Row kRows[] = {
      {{8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 5, 0xB4}, 1460, 0, "timestamps, then MSS"},
      {{0, 0, 0, 0, 2, 4, 5, 0xB4}, 0, 0, "nothing counts after the end of the list"},
      {{2, 3, 5, 1}, 0, 0, "MSS of a wrong length"},
      {{5, 2, 2, 4, 5, 0xB4}, 1460, 0, "SACK without a block"},
      {{5, 9, 0, 0, 0, 0, 0, 0, 0, 2, 4, 5, 0xB4}, 1460, 0, "SACK of 7/8 of a block"},
      {{5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 2, 4, 5, 0xB4}, 1460, 1, "one block, then MSS"},
      {{253, 4, 0x4F, 0x52}, 0, 0, "burst option of a wrong length"},
      {{253, 12, 0x4F, 0x53, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0, "another experiment's option"},
  };
  for (const Row& row : kRows) {
    const auto s = decode(with_options(row.options));
    ASSERT_TRUE(s) << row.why;
    EXPECT_EQ(s->mss, row.mss) << row.why;
    EXPECT_EQ(s->sack_blocks, row.blocks) << row.why;
    EXPECT_FALSE(s->has_identity) << row.why;
  }
  const auto scaled = decode(with_options({3, 3, 200}));
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->window_scale, 14) << "RFC 7323, 2.3";
}

// Whatever decodes must encode again, and to the same meaning.
TEST(TcpSegment, SurvivesRandomBytes) {
  RandomStream random(2, 0, RandomPurpose::kTest);
  std::uint32_t decoded = 0, refused = 0, with_option = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::array<std::uint8_t, 64> raw;
    for (auto& byte : raw) {
      const std::uint32_t draw = random.next_u32();
      byte = static_cast<std::uint8_t>((draw & 0x300) != 0 ? (draw >> 16) % 12 : draw);
    }
    const std::size_t size = random.next_u32() % (raw.size() + 1);
    raw[12] = static_cast<std::uint8_t>(random.next_u32());
    const auto s = decode(std::span(raw).first(size), random.next_u32() % 2000);
    if (!s) {
      ++refused;
      continue;
    }
    ++decoded;
    if (s->mss != 0 || s->sack_blocks != 0) ++with_option;
    const Bytes bytes = encode(*s);
    const auto back = decode(bytes, bytes.size() + s->payload_bytes);
    ASSERT_TRUE(back);
    expect_same(*back, *s);
  }
  EXPECT_GT(decoded, 1000U);
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(with_option, 10U);
}

}  // namespace
}  // namespace outrider::tcp_segment_test
