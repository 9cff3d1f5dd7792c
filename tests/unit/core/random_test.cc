#include "common/core/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "trafficgen/core/siphash.h"

namespace outrider::random_test {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Random123 1.14, tests/kat_vectors, "philox4x32 10".
TEST(Philox, PublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The vectors of the reference implementation, with the key 00 01 ... 0f and the input 00 01 ...
TEST(SipHash, PublishedVectors) {
  constexpr SipKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::vector<std::uint8_t> input;
  EXPECT_EQ(siphash(input, kKey), 0x726fdb47dd0e0e31ULL);
  for (std::uint8_t i = 0; i < 8; ++i) input.push_back(i);
  EXPECT_EQ(siphash(input, kKey), 0x93f5f5799a932462ULL) << "a whole word";
  for (std::uint8_t i = 8; i < 15; ++i) input.push_back(i);
  EXPECT_EQ(siphash(input, kKey), 0xa129ca6149be45e5ULL) << "the example of the paper";
}

std::vector<std::uint32_t> draws(RandomStream stream, int n) {
  std::vector<std::uint32_t> out;
  out.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) out.push_back(stream.next_u32());
  return out;
}

// The stream is what its doc line says: block n of (seed; n, entity, purpose).
TEST(RandomStream, IsTheCounterModeOfItsKey) {
  constexpr std::uint64_t kSeed = 0x0123456789abcdef;
  RandomStream stream(kSeed, 42, RandomPurpose::kTest);
  for (std::uint32_t n = 0; n < 3; ++n) {
    const Block expected = philox4x32({n, 0, 42, static_cast<std::uint32_t>(RandomPurpose::kTest)},
                                      {0x89abcdef, 0x01234567});
    for (const auto word : expected) EXPECT_EQ(stream.next_u32(), word) << "block " << n;
  }
}

TEST(RandomStream, EveryPartOfTheKeyMatters) {
  const auto base = draws({1, 2, RandomPurpose::kTest}, 8);
  EXPECT_EQ(draws({1, 2, RandomPurpose::kTest}, 8), base);
  EXPECT_NE(draws({2, 2, RandomPurpose::kTest}, 8), base) << "seed";
  EXPECT_NE(draws({1ULL << 32 | 1, 2, RandomPurpose::kTest}, 8), base) << "high half of the seed";
  EXPECT_NE(draws({1, 3, RandomPurpose::kTest}, 8), base) << "entity";
  EXPECT_NE(draws({1, 2, RandomPurpose::kSendJitter}, 8), base) << "purpose";
}

// Adding an entity, or drawing in another order, changes nobody else's draws.
TEST(RandomStream, IndependentOfOthersAndOfOrder) {
  const auto alone_a = draws({7, 0, RandomPurpose::kTest}, 100);
  const auto alone_b = draws({7, 1, RandomPurpose::kTest}, 100);
  RandomStream a(7, 0, RandomPurpose::kTest), b(7, 1, RandomPurpose::kTest);
  RandomStream newcomer(7, 2, RandomPurpose::kTest);
  std::vector<std::uint32_t> seen_a, seen_b;
  for (std::size_t i = 0; i < 100; ++i) {
    if (i % 3 == 0) newcomer.next_u32();
    if (i % 2 == 0) seen_b.push_back(b.next_u32());
    seen_a.push_back(a.next_u32());
    if (i % 2 == 1) seen_b.push_back(b.next_u32());
  }
  EXPECT_EQ(seen_a, alone_a);
  EXPECT_EQ(seen_b, alone_b);
}

TEST(RandomStream, UniformHasTheMomentsOfTheUnitInterval) {
  RandomStream stream(3, 0, RandomPurpose::kTest);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, least = 1, most = 0, lagged = 0, previous = 0.5;
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    lagged += (u - 0.5) * (previous - 0.5);
    previous = u;
    least = std::min(least, u);
    most = std::max(most, u);
  }
  // Five standard errors each.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
  EXPECT_NEAR(lagged / kDraws, 0, 5 / 12.0 / std::sqrt(kDraws));
  EXPECT_LT(least, 1e-4);
  EXPECT_GT(most, 1 - 1e-4);
}

TEST(RandomStream, ExponentialHasItsMeanVarianceAndTail) {
  RandomStream stream(4, 0, RandomPurpose::kTest);
  constexpr int kDraws = 200'000;
  constexpr double kMean = 250;
  double sum = 0, squares = 0;
  int beyond_three_means = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.exponential(kMean);
    ASSERT_GE(x, 0);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    beyond_three_means += x > 3 * kMean;
  }
  EXPECT_NEAR(sum / kDraws / kMean, 1, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws / (kMean * kMean), 2, 5 * std::sqrt(20.0 / kDraws));
  const double tail = std::exp(-3.0);
  EXPECT_NEAR(static_cast<double>(beyond_three_means) / kDraws, tail, 5 * std::sqrt(tail / kDraws));
}

}  // namespace
}  // namespace outrider::random_test
