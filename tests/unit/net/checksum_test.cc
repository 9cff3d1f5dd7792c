#include "common/net/checksum.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "common/core/random.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider::checksum_test {
using namespace sw;
namespace {

// Independent of the code under test: big-endian words, carry folded at once.
std::uint16_t naive_sum(std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum += static_cast<std::uint32_t>(bytes[i]) << 8;
    if (i + 1 < bytes.size()) sum += bytes[i + 1];
    if (sum > 0xFFFF) sum -= 0xFFFF;
  }
  return static_cast<std::uint16_t>(sum);
}

// RFC 1071, section 3: the numbers of its example.
TEST(Checksum, ExampleOfRfc1071) {
  const std::array<std::uint8_t, 8> bytes = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(be16(checksum_fold(checksum_add(bytes, 0))), 0xddf2);
}

TEST(Checksum, EqualsTheNaiveSumAtEveryLengthAndAlignment) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  std::array<std::uint8_t, 200> bytes;
  for (int round = 0; round < 20; ++round) {
    for (auto& b : bytes) b = round == 0 ? 0xFF : static_cast<std::uint8_t>(random.next_u32());
    for (std::size_t offset = 0; offset < 8; ++offset) {
      for (std::size_t length = 0; length <= 150; ++length) {
        const std::span part(bytes.data() + offset, length);
        ASSERT_EQ(be16(checksum_fold(checksum_add(part, 0))) % 0xFFFF, naive_sum(part) % 0xFFFF)
            << "round " << round << " offset " << offset << " length " << length;
      }
    }
  }
}

TEST(Checksum, ChainsOverRangesOfEvenLength) {
  std::array<std::uint8_t, 61> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
  const auto whole = checksum_fold(checksum_add(bytes, 0));
  for (std::size_t cut = 0; cut < bytes.size(); cut += 2) {
    const std::span all(bytes);
    EXPECT_EQ(checksum_fold(checksum_add(all.subspan(cut), checksum_add(all.first(cut), 0))),
              whole);
  }
}

TEST(Checksum, FoldCarriesFromTheTop) {
  EXPECT_EQ(checksum_fold(0), 0);
  EXPECT_EQ(checksum_fold(0x1'0000), 1);
  EXPECT_EQ(checksum_fold(0x1'FFFF), 1) << "the fold itself carries";
  EXPECT_EQ(checksum_fold(0xFFFF'FFFF), 0xFFFF);
  EXPECT_EQ(checksum_fold(0xFFFF'FFFF'FFFF'FFFF), 0xFFFF);
  EXPECT_EQ(checksum_fold(0x1'0000'0000), 1);
}

// A header with options, as it lies in a packet.
struct HeaderBytes {
  std::array<std::uint8_t, 60> bytes{};
  Ipv4Header& ip() { return *reinterpret_cast<Ipv4Header*>(bytes.data()); }
  void seal() {
    const std::uint16_t checksum = ipv4_checksum(ip());
    std::memcpy(ip().checksum.raw.data(), &checksum, sizeof checksum);
  }
  bool valid_by_hand() { return naive_sum(std::span(bytes).first(ip().header_bytes())) == 0xFFFF; }
};

HeaderBytes random_header(RandomStream& random) {
  HeaderBytes h;
  for (auto& b : h.bytes) b = static_cast<std::uint8_t>(random.next_u32());
  h.ip().version_and_length = static_cast<std::uint8_t>(0x45 + random.next_u32() % 11);
  return h;
}

TEST(Ipv4Checksum, FieldMayHoldAnythingBefore) {
  RandomStream random(2, 0, RandomPurpose::kTest);
  for (int i = 0; i < 20'000; ++i) {
    HeaderBytes h = random_header(random);
    if (i % 3 == 0) h.ip().checksum.set(static_cast<std::uint16_t>(i % 2 == 0 ? 0 : 0xFFFF));
    h.seal();
    ASSERT_TRUE(h.valid_by_hand()) << i;
    ASSERT_TRUE(ipv4_checksum_valid(h.ip())) << i;
    const std::size_t at = random.next_u32() % h.ip().header_bytes();
    const auto bit = static_cast<std::uint8_t>(1U << (random.next_u32() % 8));
    if (at != 0) {  // the first byte holds the length
      h.bytes[at] ^= bit;
      ASSERT_FALSE(ipv4_checksum_valid(h.ip())) << "one bit of byte " << at;
    }
  }
}

// A window that is rewritten keeps the TCP checksum what it was: right if it was right,
// and else as wrong as before. The payload need not be there.
TEST(TcpChecksum, SurvivesANewWindow) {
  RandomStream random(5, 0, RandomPurpose::kTest);
  std::uint64_t wrong = 0, same = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::array<std::uint8_t, 60> bytes{};
    for (auto& b : bytes)
      b = static_cast<std::uint8_t>(random.next_u32() & (i % 3 == 0 ? 0x80 : 0xFF));
    auto& tcp = *reinterpret_cast<TcpHeader*>(bytes.data());
    tcp.checksum.set(0);
    const std::uint16_t sum = checksum_fold(checksum_add(bytes, 0));
    auto field = static_cast<std::uint16_t>(~sum);
    if (i % 5 == 0) field = static_cast<std::uint16_t>(random.next_u32());
    std::memcpy(tcp.checksum.raw.data(), &field, 2);
    const std::uint16_t before = checksum_fold(checksum_add(bytes, 0));
    const auto window =
        static_cast<std::uint16_t>(i % 7 == 0 ? tcp.window.get() : random.next_u32());
    same += window == tcp.window.get();
    set_window(tcp, window);
    ASSERT_EQ(tcp.window.get(), window);
    const std::uint16_t after = checksum_fold(checksum_add(bytes, 0));
    ASSERT_EQ(after % 0xFFFF, before % 0xFFFF) << "both zeros of one's complement are one";
    ASSERT_EQ(after == 0xFFFF, before == 0xFFFF) << "valid only if it was";
    wrong += before != 0xFFFF;
  }
  EXPECT_GT(wrong, 10'000U);
  EXPECT_GT(same, 10'000U);
}

// What a switch does to a header, in both orders, keeps it valid.
TEST(Ipv4Checksum, SurvivesMarkingAndTtl) {
  RandomStream random(3, 0, RandomPurpose::kTest);
  std::uint64_t expired = 0, changed = 0;
  for (int i = 0; i < 50'000; ++i) {
    HeaderBytes h = random_header(random);
    h.ip().tos = static_cast<std::uint8_t>((h.ip().tos & ~kEcnMask) | (1 + i % 3));
    h.seal();
    const HeaderBytes before = h;
    const std::uint8_t ttl = h.ip().ttl;
    if (i % 2 == 0) set_ce(h.ip());
    const bool lives = decrement_ttl(h.ip());
    if (i % 2 != 0) set_ce(h.ip());
    ASSERT_EQ(lives, ttl > 1);
    ASSERT_EQ(h.ip().ttl, lives ? ttl - 1 : ttl) << "a packet that expires here is unchanged";
    ASSERT_EQ(ecn_of(h.ip().tos), Ecn::kCe);
    ASSERT_TRUE(ipv4_checksum_valid(h.ip()));
    ASSERT_TRUE(h.valid_by_hand());
    for (std::size_t b = 0; b < h.bytes.size(); ++b)
      if (b != 1 && b != 8 && b != 10 && b != 11) {
        ASSERT_EQ(h.bytes[b], before.bytes[b]);
      }
    expired += !lives;
    changed += h.bytes != before.bytes;
  }
  EXPECT_GT(expired, 100U);
  EXPECT_GT(changed, 40'000U);
}

// All 2^16 values of the word that changes, and of the checksum that results,
// 0x0000 and 0xFFFF among them: where RFC 1141 goes wrong.
TEST(Ipv4Checksum, IncrementalUpdateHoldsForEveryWord) {
  std::uint64_t zero = 0, ones = 0;
  for (unsigned word = 0; word <= 0xFFFF; ++word) {
    for (const unsigned other : {0x0000U, 0x0001U, 0x7FFFU, 0xFFFEU, 0xFFFFU, word ^ 0xFFFFU}) {
      HeaderBytes h;
      h.bytes = {0x45, 0x02, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2};
      const auto before = static_cast<std::uint16_t>(word),
                 after = static_cast<std::uint16_t>(other);
      std::memcpy(&h.bytes[4], &before, 2);
      h.seal();
      std::uint16_t checksum;
      std::memcpy(&checksum, &h.bytes[10], 2);
      checksum = checksum_update(checksum, before, after);
      std::memcpy(&h.bytes[4], &after, 2);
      std::memcpy(&h.bytes[10], &checksum, 2);
      ASSERT_TRUE(ipv4_checksum_valid(h.ip())) << std::hex << word << " -> " << other;
      zero += checksum == 0;
      ones += checksum == 0xFFFF;
    }
  }
  EXPECT_GT(zero, 0U);
  EXPECT_EQ(ones, 0U) << "the sum of a header is never zero, so its complement is never ones";
}

TEST(Ipv4Checksum, EveryTosAndTtl) {
  for (unsigned tos = 0; tos < 256; ++tos) {
    for (unsigned ttl = 0; ttl < 256; ++ttl) {
      HeaderBytes h;
      h.bytes = {0x45,
                 static_cast<std::uint8_t>(tos),
                 5,
                 220,
                 0,
                 0,
                 0x40,
                 0,
                 static_cast<std::uint8_t>(ttl),
                 6,
                 0,
                 0,
                 10,
                 0,
                 1,
                 1,
                 10,
                 0,
                 3,
                 1};
      h.seal();
      if (is_ect(ecn_of(h.ip().tos))) set_ce(h.ip());
      ASSERT_EQ(h.ip().tos, is_ect(ecn_of(static_cast<std::uint8_t>(tos))) ? tos | 3 : tos)
          << "the upper six bits stay";
      ASSERT_EQ(decrement_ttl(h.ip()), ttl > 1);
      ASSERT_TRUE(h.valid_by_hand());
    }
  }
}

TEST(TcpPseudoHeader, IsTheSumOfRfc9293) {
  HeaderBytes h;
  h.bytes = {0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 1, 1, 10, 0, 3, 1};
  const std::array<std::uint8_t, 12> pseudo = {10, 0, 1, 1, 10, 0, 3, 1, 0, 6, 0x05, 0xC8};
  EXPECT_EQ(be16(checksum_fold(tcp_pseudo_header_sum(h.ip(), 1480))), naive_sum(pseudo));
}

}  // namespace
}  // namespace outrider::checksum_test
