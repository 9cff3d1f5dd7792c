#include "common/core/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/core/random.h"

namespace outrider::histogram_test {
namespace {

// Draws over all magnitudes: a random number of random bits.
std::uint64_t any_magnitude(RandomStream& random) {
  const std::uint64_t word = (std::uint64_t{random.next_u32()} << 32) | random.next_u32();
  return word >> (random.next_u32() % 64);
}

std::uint64_t exact_quantile(const std::vector<std::uint64_t>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

constexpr double kQuantiles[] = {0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};

TEST(Histogram, QuantilesAreWithinOnePercentOfTheSortedSamples) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Histogram h;
    std::vector<std::uint64_t> samples;
    long double sum = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t v = any_magnitude(random);
      samples.push_back(v);
      sum += static_cast<long double>(v);
      h.record(v);
    }
    std::ranges::sort(samples);
    EXPECT_EQ(h.count(), samples.size());
    EXPECT_EQ(h.min(), samples.front());
    EXPECT_EQ(h.max(), samples.back());
    EXPECT_NEAR(h.mean() / static_cast<double>(sum / 20'000), 1, 1e-12);
    for (const double q : kQuantiles) {
      const auto exact = static_cast<double>(exact_quantile(samples, q));
      EXPECT_NEAR(static_cast<double>(h.quantile(q)), exact, 0.01 * exact)
          << "seed " << seed << " q " << q;
    }
  }
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (std::uint64_t v = 0; v < 256; ++v) h.record(v);
  for (std::uint64_t v = 0; v < 256; ++v)
    EXPECT_EQ(h.quantile((static_cast<double>(v) + 0.5) / 256), v);
}

TEST(Histogram, EdgesOfTheRange) {
  for (const std::uint64_t v :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128},
        std::uint64_t{255}, std::uint64_t{256}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    Histogram h;
    h.record(v);
    EXPECT_EQ(h.quantile(0), v) << "one value is its own every quantile";
    EXPECT_EQ(h.quantile(1), v);
    EXPECT_EQ(h.min(), v);
    EXPECT_EQ(h.max(), v);
    EXPECT_DOUBLE_EQ(h.mean(), static_cast<double>(v));
  }
}

TEST(Histogram, RankCountsFromTheSmallest) {
  Histogram h;
  for (int i = 0; i < 99; ++i) h.record(10);
  h.record(100);
  EXPECT_EQ(h.quantile(0.99), 10U) << "99 of 100 values are 10";
  EXPECT_EQ(h.quantile(0.991), 100U) << "one more than 99 values";
}

TEST(Histogram, MergeEqualsRecordingEverythingInOne) {
  RandomStream random(9, 0, RandomPurpose::kTest);
  Histogram one, left, right, empty;
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t v = random.next_u32();  // sums stay exact in a double
    one.record(v);
    (random.next_u32() % 3 == 0 ? left : right).record(v);
  }
  ASSERT_GT(left.count(), 0U);
  ASSERT_GT(right.count(), 0U);
  left.merge(right);
  EXPECT_EQ(left, one);
  left.merge(empty);
  EXPECT_EQ(left, one) << "an empty one adds nothing, not even to the extremes";
  empty.merge(one);
  EXPECT_EQ(empty, one);
  one.clear();
  EXPECT_EQ(one, Histogram{});
}

TEST(Histogram, TakenApartAndRebuiltIsTheSame) {
  RandomStream random(10, 0, RandomPurpose::kTest);
  Histogram h, rebuilt;
  for (int i = 0; i < 1'000; ++i) h.record(any_magnitude(random));
  h.for_each_bucket([&](std::size_t index, std::uint64_t count) {
    ASSERT_TRUE(rebuilt.restore_bucket(index, count));
  });
  rebuilt.restore_extremes(h.sum(), h.min(), h.max());
  EXPECT_EQ(rebuilt, h);
  EXPECT_FALSE(rebuilt.restore_bucket(1'000'000, 1)) << "no such bucket";
  EXPECT_EQ(rebuilt, h);
}

}  // namespace
}  // namespace outrider::histogram_test
